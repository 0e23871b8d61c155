"""How many KV blocks fit into the memory that is left."""

from dataclasses import dataclass

from backends.qwen3.errors import ModelError
from backends.qwen3.group import Group

_GIB = 2**30


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryUse:
    """What was measured on one rank's device, in bytes.

    Attributes:
        total: memory of the device.
        others: in use before this rank took anything, by other processes; what its own start took is no part of it.
        peak: most that this rank used at once, without KV cache: weights, the largest step, the sampler.
        graphs: what captured graphs take on top.
    """

    total: int
    others: int
    peak: int
    graphs: int = 0

    def left(self, utilization: float) -> int:
        """Bytes for the KV cache if all of us together may use the share `utilization`; may be negative."""
        return int(self.total * utilization) - self.others - self.peak - self.graphs


def num_blocks_that_fit(use: MemoryUse, utilization: float, block_bytes: int, group: Group) -> int:
    """Blocks of the KV cache, the same on each rank: as many as fit where the least memory is left.

    Args:
        use: what was measured on this rank.
        utilization: share of the device's memory that may be used, in (0, 1].
        block_bytes: bytes of one block on this rank, see `Qwen3Config.kv_block_bytes`.
        group: ranks that share the model.

    Raises:
        ModelError: on every rank, when not one block fits on some rank, or the share is no share.
    """
    if not 0 < utilization <= 1:
        raise ModelError(f"memory_utilization is {utilization}; it must be above 0 and at most 1.")
    num_blocks = group.minimum(use.left(utilization) // block_bytes)
    if num_blocks < 1:
        raise ModelError(
            f"No memory is left for the KV cache: {utilization:g} of {_gib(use.total)} (memory_utilization), less "
            f"{_gib(use.others)} used by other processes, {_gib(use.peak)} for weights and the largest step and "
            f"{_gib(use.graphs)} for graphs, leaves {_gib(use.left(utilization))} on this rank, and a block takes "
            f"{_gib(block_bytes)}. Raise memory_utilization, lower max_num_batched_tokens or max_num_seqs, end the "
            f"other processes, or use more ranks."
        )
    return num_blocks


def _gib(num_bytes: int) -> str:
    return f"{num_bytes / _GIB:.3f} GiB"
