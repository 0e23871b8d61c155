"""A trace to run on a GPU, at several shares of what the GPU can serve."""

from dataclasses import dataclass
from pathlib import Path

from traces import GeneratorSettings, generate, write_trace


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """Where the requests come from.

    Attributes:
        name: for file names.
        source: name of a trace file, or how to generate one.
        start_s: begin of the window, in the trace's own time.
        pool_tokens: KV cache that the scheduler may use, in tokens; None = all.
        saturated_s: how long a saturated run takes to show the rate that can be sustained.
    """

    name: str
    source: str | GeneratorSettings
    start_s: float = 0.0
    pool_tokens: int | None = None
    saturated_s: float = 12.0

    def path(self, folder: Path, traces: Path) -> Path:
        """The trace's file: one of `traces`, or made in `folder` when it is first asked for."""
        if isinstance(self.source, str):
            return traces / self.source
        path = folder / "traces" / f"{self.name}.jsonl"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            write_trace(generate(self.source), path)
        return path

    def num_blocks(self, available: int, block_size: int) -> int:
        """KV blocks that the scheduler may use, of those that the backend has."""
        return available if self.pool_tokens is None else min(available, self.pool_tokens // block_size)
