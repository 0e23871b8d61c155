"""The blocks that nobody holds, in the order in which they will be handed out."""

from collections import OrderedDict
from collections.abc import Iterator


class FreeList:
    """An ordered set of block ids; taking, putting and removing from the middle are O(1)."""

    def __init__(self, num_blocks: int) -> None:
        """Start with all blocks 0 .. num_blocks - 1, in that order."""
        # OrderedDict, not dict: the first key of a dict from which many have been removed takes O(n) to find.
        self._ids: OrderedDict[int, None] = OrderedDict.fromkeys(range(num_blocks))

    def take(self) -> int:
        """Remove and return the head."""
        return self._ids.popitem(last=False)[0]

    def put_first(self, block_id: int) -> None:
        """Put a block at the head: it is the next to go."""
        assert block_id not in self._ids, f"block {block_id} is free twice"
        self._ids[block_id] = None
        self._ids.move_to_end(block_id, last=False)

    def put_last(self, block_id: int) -> None:
        """Put a block at the tail."""
        assert block_id not in self._ids, f"block {block_id} is free twice"
        self._ids[block_id] = None

    def remove(self, block_id: int) -> None:
        """Take a block out of the middle."""
        del self._ids[block_id]

    def __contains__(self, block_id: int) -> bool:
        """Whether the block is free."""
        return block_id in self._ids

    def __len__(self) -> int:
        """Number of free blocks."""
        return len(self._ids)

    def __iter__(self) -> Iterator[int]:
        """Block ids from head to tail."""
        return iter(self._ids)
