"""An engine on the Qwen3 backend with random weights, as the benchmarks run it."""

from pathlib import Path
from typing import TYPE_CHECKING

from engine import LLM, BackendError, NanoVllmPolicy, Policy, VllmPolicy

if TYPE_CHECKING:
    from backends.qwen3.qwen3_backend import Qwen3Backend

TINY = str(Path(__file__).parent / "tiny-qwen3.toml")
POLICIES: dict[str, Policy] = {"vllm": VllmPolicy(), "nano-vllm": NanoVllmPolicy()}


def open_engine(
    model: str,
    *,
    policy: Policy,
    block_size: int,
    max_num_seqs: int,
    max_num_batched_tokens: int,
    max_model_len: int,
    device: str,
    attention: str = "auto",
    num_blocks: int | None = None,
    graphs: bool = True,
) -> "tuple[LLM, Qwen3Backend]":
    """The engine and its backend; closing the engine closes both.

    Args:
        model: a named size, or a sheet file.
        policy: schedules.
        block_size: tokens in a KV block.
        max_num_seqs: most sequences.
        max_num_batched_tokens: token budget of a step.
        max_model_len: most tokens of a sequence.
        device: "cuda" or "cpu".
        attention: a name; "auto" chooses.
        num_blocks: KV blocks; None = as many as fit.
        graphs: whether steps run in CUDA graphs.

    Raises:
        ModelError: it cannot run here.
        BackendError: only plain attention can run on this GPU, and nobody has asked for it.
    """
    from backends.qwen3.qwen3_backend import Qwen3Backend  # loads torch; the caller's own start is measured

    backend = Qwen3Backend.from_dims(
        model,
        device=device,
        block_size=block_size,
        num_blocks=num_blocks,
        max_num_seqs=max_num_seqs,
        max_num_batched_tokens=max_num_batched_tokens,
        max_model_len=max_model_len,
        attention=attention,
        graphs=graphs,
    )
    notice = backend.notices[0]
    if device != "cpu" and attention == "auto" and notice.startswith("Attention torch"):
        backend.close()
        raise BackendError(f"Plain attention would be timed, many times slower than it need be: {notice}")
    engine = LLM(
        backend,
        policy=policy,
        block_size=block_size,
        max_num_seqs=max_num_seqs,
        max_num_batched_tokens=max_num_batched_tokens,
        max_model_len=max_model_len,
    )
    return engine, backend
