"""Consecutive blocks of a table that share one fate."""

from bisect import bisect_left

from engine.block_keys import BlockKeys


class BlockRun:
    """Blocks that the same sequences hold, that became findable together and will be handed out one after the other.

    What happens to a block happens to its whole run, at the cost of one. A run is cut in two only where their fates
    part: where a hit ends, where another sequence's run of the same content ends.

        key of sequence     k0  k1  k2 | k3  k4 | k5           start of the second run is 3, its stop 5
        block table          8   2   9 |  1   4 |  7
                            run        | run    | not full yet

    Attributes:
        block_ids: the blocks in order; when they are free, the last one is the next to be handed out.
        keys: keys of the sequence that computed it; None if nothing can be found in it.
        key: that of its first block.
        start: index of its first block in `keys`.
        num_holders: tables that hold it; 0 if it is free.
        is_open: whether only the sequence that computed it has ever held it, and no other run is equal to it or to a
            part of it. Then no block anywhere holds what follows it, and it can become longer.
        before: its neighbour in the free list, nearer to the head; None if it is held.
        after: its neighbour on the other side.
    """

    __slots__ = ("after", "before", "block_ids", "is_open", "key", "keys", "num_holders", "start")

    def __init__(self, block_ids: list[int], keys: BlockKeys | None = None, start: int = 0) -> None:
        """Start with nobody holding it."""
        self.block_ids = block_ids
        self.keys = keys
        self.start = start
        self.key = None if keys is None else keys[start]
        self.num_holders = 0
        self.is_open = False
        self.before: BlockRun | None = None
        self.after: BlockRun | None = None

    def num_equal(self, keys: BlockKeys, stop: int) -> int:
        """How many of its first blocks hold what `keys` up to `stop` stand for; that of its first block is equal.

        Keys are chained: where two of them are equal, so are all before.
        """
        mine, stop = self.keys, min(stop, self.start + len(self.block_ids))
        assert mine is not None, "only runs with content are compared"
        if mine is keys or mine[stop - 1] == keys[stop - 1]:
            return stop - self.start
        rest = range(self.start + 1, stop)
        return 1 + bisect_left(rest, True, key=lambda index: mine[index] != keys[index])

    def cut(self, num_blocks: int) -> "BlockRun":
        """Give away the first `num_blocks`; returns them as a run with the same holders, in no free list.

        So it stays the run that is last in the tables that end with it.
        """
        assert self.keys is not None, "only runs with content are cut"
        head = BlockRun(self.block_ids[:num_blocks], self.keys, self.start)
        head.num_holders = self.num_holders
        del self.block_ids[:num_blocks]
        self.start += num_blocks
        self.key = self.keys[self.start]
        self.is_open = False
        return head

    def __len__(self) -> int:
        """Number of blocks."""
        return len(self.block_ids)
