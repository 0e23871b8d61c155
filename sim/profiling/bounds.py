"""What the steps of a sweep may be at most."""

from collections.abc import Iterable
from dataclasses import dataclass

from engine import Limits
from sim.profiling.load import Standing

_POOL_SHARE = 0.9


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits of the engine that is profiled.

    Attributes:
        limits: of its scheduler.
        num_blocks: KV blocks.
        graph_sizes: sizes of captured graphs; none if every step runs eager.
    """

    limits: Limits
    num_blocks: int
    graph_sizes: tuple[int, ...]

    @property
    def num_pool_tokens(self) -> int:
        """Tokens that the pool holds."""
        return self.num_blocks * self.limits.block_size

    @property
    def levels(self) -> tuple[int, ...]:
        """Numbers of decode rows to look at, rising: the graph sizes, or some numbers where there are none."""
        most = min(self.limits.max_num_seqs, self.limits.max_num_batched_tokens)
        sizes = self.graph_sizes or (1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128, 160, 192, 224, 256)
        return tuple(sorted({size for size in sizes if size <= most} or {most}))

    def fits(self, standing: Iterable[Standing], num_more: int = 0) -> bool:
        """Whether these sequences fit into the pool to their ends, with `num_more` tokens beside, and some to spare."""
        blocks = sum(self.num_blocks_for(each.num_tokens + each.num_outputs) for each in standing)
        return blocks + self.num_blocks_for(num_more) <= _POOL_SHARE * self.num_blocks

    def num_blocks_for(self, num_tokens: int) -> int:
        """Blocks that hold so many tokens."""
        return -(-num_tokens // self.limits.block_size)

    def whole_blocks(self, num_tokens: int) -> int:
        """`num_tokens` rounded up to whole blocks."""
        return self.num_blocks_for(num_tokens) * self.limits.block_size
