"""Where the checks run, and on what sizes."""

from dataclasses import dataclass
from pathlib import Path

from benchmarks.gpu_checks.attention_kind import AttentionKind
from benchmarks.gpu_checks.case import NotHereError
from benchmarks.qwen3_engine import TINY


@dataclass(frozen=True, slots=True)
class Setup:
    """A device and a folder.

    Attributes:
        device: "cuda", or "cpu" to try the checks themselves, on tiny sizes.
        scratch: for checkpoints; shared by all groups.
    """

    device: str
    scratch: Path

    @property
    def is_cuda(self) -> bool:
        """Whether there is a real GPU."""
        return self.device != "cpu"

    @property
    def model(self) -> str:
        """The model to run, a named size or a sheet file."""
        return "Qwen3-0.6B" if self.is_cuda else TINY

    @property
    def usual_attention(self) -> AttentionKind:
        """The attention that the published size runs with unless told otherwise."""
        return AttentionKind("flash2", 256) if self.is_cuda else AttentionKind("torch", 16)

    def need_cuda(self) -> None:
        """End a case that only a GPU can show."""
        if not self.is_cuda:
            raise NotHereError("skipped: needs CUDA")
