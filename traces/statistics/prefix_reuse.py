"""How much of the prompts a prefix cache would have held."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from traces.statistics.cache_size import CacheSize
from traces.statistics.recency_stack import RecencyStack
from traces.trace_request import TraceRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheReuse:
    """What an LRU cache of one size would have hit.

    Attributes:
        num_blocks: its size in blocks of the trace; None is a cache without end.
        num_tokens: its size in tokens.
        block_share: share of the prompts' blocks that it holds when the prompt comes.
        token_share: share of the prompts' tokens, those without ids included.
    """

    num_blocks: int | None
    num_tokens: int | None
    block_share: float
    token_share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ReuseSummary:
    """Shared prefixes, as content ids tell them.

    Attributes:
        block_size: prompt tokens of one block of the trace.
        num_blocks: blocks of all prompts.
        num_distinct: different ones, each told by its id and all before it.
        infinite: reuse in a cache without end.
        lru: reuse in caches of the sizes asked for.
    """

    block_size: int
    num_blocks: int
    num_distinct: int
    infinite: CacheReuse
    lru: tuple[CacheReuse, ...]


class PrefixReuse:
    """Takes prompts in the order of time and notes at which depth of an LRU list each of their blocks stands.

    A prompt is looked up as a whole when it comes; then its blocks are the ones used last, the first of them latest, so
    that a cache loses the end of a prompt before its beginning. Hence a block never outlives one that it follows, and
    what a cache of C blocks hits is the blocks that stand no deeper than C: one pass answers for all sizes.

    An engine hits a little less: only blocks of its own that are full, and never the whole of a prompt.

    Args:
        block_size: prompt tokens of one id.
    """

    def __init__(self, block_size: int) -> None:
        self._block_size = block_size
        self._stack = RecencyStack()
        self._keys: dict[int, int] = {}  # number of a block by that of the one before it and its id
        self._hits_at: Counter[int] = Counter()  # blocks by depth
        self._short_at: Counter[int] = Counter()  # tokens that they lack to be full, by depth
        self._num_blocks = self._num_tokens = 0

    def add(self, request: TraceRequest) -> None:
        """Take the prompt of the next request."""
        self._num_tokens += request.input_length
        if not request.hash_ids:
            return
        keys = self._chained(request.hash_ids)
        self._num_blocks += len(keys)
        depth = None
        for key in keys:
            depth = self._stack.depth(key)
            if depth is None:
                break  # a block that was never seen is followed by none that was
            self._hits_at[depth] += 1
        if depth is not None and len(keys) * self._block_size > request.input_length:
            self._short_at[depth] += len(keys) * self._block_size - request.input_length
        for key in reversed(keys):
            self._stack.use(key)

    def _chained(self, hash_ids: Iterable[int]) -> list[int]:
        """Number blocks so that equal numbers mean equal ids at the same place behind equal ids."""
        keys, key = [], 0
        for hash_id in hash_ids:
            key = self._keys.setdefault(key << 64 | hash_id, len(self._keys) + 1)
            keys.append(key)
        return keys

    def curve(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return sizes of caches in blocks, ascending, at which more is hit, and the blocks and tokens hit there."""
        depths = np.array(sorted(self._hits_at), dtype=np.int64)
        blocks = np.array([self._hits_at[depth] for depth in depths.tolist()], dtype=np.int64)
        short = np.array([self._short_at[depth] for depth in depths.tolist()], dtype=np.int64)
        return depths, np.cumsum(blocks), np.cumsum(blocks * self._block_size - short)

    def summary(self, sizes: Iterable[CacheSize]) -> ReuseSummary | None:
        """Return the reuse in caches of these sizes; None if no prompt has ids."""
        if not self._num_blocks:
            return None
        lru = ((size.num_blocks(self._block_size), size) for size in sizes)
        return ReuseSummary(
            block_size=self._block_size,
            num_blocks=self._num_blocks,
            num_distinct=len(self._keys),
            infinite=self._reuse(None),
            lru=tuple(self._reuse(num, size) for num, size in lru),
        )

    def _reuse(self, num_blocks: int | None, size: CacheSize | None = None) -> CacheReuse:
        depths, blocks, tokens = self.curve()
        end = len(depths) if num_blocks is None else int(np.searchsorted(depths, num_blocks, side="right"))
        num_tokens = None if num_blocks is None else num_blocks * self._block_size
        return CacheReuse(
            num_blocks=num_blocks,
            num_tokens=size.num if size is not None and size.is_tokens else num_tokens,
            block_share=int(blocks[end - 1]) / self._num_blocks if end else 0.0,
            token_share=int(tokens[end - 1]) / self._num_tokens if end else 0.0,
        )
