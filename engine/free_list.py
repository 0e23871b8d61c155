"""The blocks that nobody holds, in the order in which they will be handed out."""

from collections.abc import Iterator

from engine.block_run import BlockRun

_FRESH_AT_ONCE = 65_536


class FreeList:
    """An ordered list of runs of free blocks; of each run the last block goes first.

        next to go   [7 3 9]  [4 5]  [2 1 6]   last to go       order: 9 3 7  5 4  6 1 2
                     first                                      so a sequence's tail goes before its head

    Runs are linked to their neighbours: putting one anywhere and taking it from anywhere are O(1).

    Blocks that were never handed out stand in one place of the list. Of them only the next ones are a run, so that a
    pool costs what is used of it:

        next to go   [7 3 9]  [2 1 0] 3 4 5 ... 999,999  [8 6]   last to go
                              fresh   not listed yet
    """

    def __init__(self, num_blocks: int) -> None:
        """Start with all blocks 0 .. num_blocks - 1, in that order."""
        # A ring: the end is before the first and after the last.
        self._end = BlockRun([])
        self._end.before = self._end.after = self._end
        self._num_blocks = self._num_free = num_blocks
        self._num_listed = 0
        self._list_fresh(self._end)

    def first(self) -> BlockRun:
        """The run of which the next block comes; there is one."""
        assert self._num_free, "no block is free"
        assert self._end.after is not None
        return self._end.after

    def put_first(self, run: BlockRun) -> None:
        """Put a run at the head."""
        self._put(run, self._end.after)

    def put_last(self, run: BlockRun) -> None:
        """Put a run at the tail."""
        self._put(run, self._end)

    def put_head(self, head: BlockRun, run: BlockRun) -> None:
        """Put the head that was cut off a free run where it was: behind what is left of it."""
        self._num_free -= len(head)
        self._put(head, run.after)

    def remove(self, run: BlockRun) -> None:
        """Take a run from wherever it is."""
        before, after = run.before, run.after
        assert before is not None, f"{run.block_ids} are not free"
        assert after is not None
        before.after, after.before = after, before
        run.before = run.after = None
        self._num_free -= len(run)
        if run is self._fresh:
            self._list_fresh(after)

    def shorten(self, run: BlockRun, num_blocks: int) -> list[int]:
        """Take blocks of a run as they go, not all of them; returns them in this order."""
        taken = run.block_ids[: -num_blocks - 1 : -1]
        del run.block_ids[-num_blocks:]
        self._num_free -= num_blocks
        return taken

    def _list_fresh(self, after: BlockRun) -> None:
        """Make a run of the next blocks that were never handed out, if there are any, and put it where the last was."""
        first, self._num_listed = self._num_listed, min(self._num_listed + _FRESH_AT_ONCE, self._num_blocks)
        self._fresh = BlockRun(list(range(self._num_listed - 1, first - 1, -1)))
        self._num_free -= len(self._fresh)  # they count as free already
        self._put(self._fresh, after)

    def _put(self, run: BlockRun, after: BlockRun | None) -> None:
        if not run.block_ids:
            return
        assert run.after is None, f"one of the blocks {run.block_ids} is free already"
        assert after is not None
        before = after.before
        assert before is not None, "a run is put beside one that is not free"
        run.before, run.after = before, after
        before.after = after.before = run
        self._num_free += len(run)
        assert self._num_free <= self._num_blocks, f"one of the blocks {run.block_ids} is free already"

    def __len__(self) -> int:
        """Number of free blocks."""
        return self._num_free

    def __iter__(self) -> Iterator[int]:
        """Block ids in the order in which they will go."""
        run = self._end.after
        while run is not None and run is not self._end:
            yield from reversed(run.block_ids)
            if run is self._fresh:
                yield from range(self._num_listed, self._num_blocks)
            run = run.after
