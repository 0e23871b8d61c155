"""Blocks in which a failed request may have left NaN."""

import numpy as np
from numpy.typing import NDArray

from backends.qwen3.kv_cache import KVCache


class DirtyBlocks:
    """Zeroes such a block when it is handed out again.

    A kernel may read a block to its end and multiply what lies behind a sequence's context by a weight of 0, and
    0 x NaN is NaN. Not sooner: until then another request may share the block, and must fail as well rather than
    compute on zeros.
    """

    def __init__(self, kv_cache: KVCache) -> None:
        self._kv_cache = kv_cache
        self._blocks: set[int] = set()

    def add(self, block_ids: NDArray[np.int32]) -> None:
        """Note the blocks of a request that failed."""
        self._blocks.update(block_ids.tolist())

    def clean(self, new_blocks: NDArray[np.int32]) -> None:
        """Zero those of `new_blocks`, about to be written by a new owner, that need it."""
        if self._blocks:
            found = self._blocks.intersection(new_blocks.tolist())
            if found:
                self._kv_cache.clear(sorted(found))
                self._blocks -= found
