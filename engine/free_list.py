"""The blocks that nobody holds, in the order in which they will be handed out."""

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from itertools import islice


class FreeList:
    """An ordered set of block ids; taking, putting and removing one from the middle are O(1)."""

    def __init__(self, num_blocks: int) -> None:
        """Start with all blocks 0 .. num_blocks - 1, in that order."""
        # OrderedDict, not dict: the first key of a dict from which many have been removed takes O(n) to find.
        self._ids: OrderedDict[int, None] = OrderedDict.fromkeys(range(num_blocks))

    def take(self, count: int) -> list[int]:
        """Remove and return the first `count` blocks."""
        ids = self._ids
        taken = list(islice(ids, count))
        assert len(taken) == count, f"{count} blocks are wanted and {len(taken)} are free"
        for block_id in taken:
            del ids[block_id]
        return taken

    def put_first(self, block_ids: Sequence[int]) -> None:
        """Put blocks at the head, one before the other: the last of them is the next to go."""
        self.put_last(block_ids)
        for block_id in block_ids:
            self._ids.move_to_end(block_id, last=False)

    def put_last(self, block_ids: Sequence[int]) -> None:
        """Put blocks at the tail, one behind the other."""
        assert self._ids.keys().isdisjoint(block_ids), f"one of the blocks {block_ids} is free already"
        ids = self._ids
        for block_id in block_ids:
            ids[block_id] = None

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
