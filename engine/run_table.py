"""The runs that tables of blocks consist of, held or free."""

from collections.abc import Iterator
from collections.abc import Sequence as Items

from engine.block_keys import BlockKeys
from engine.block_run import BlockRun
from engine.free_list import FreeList
from engine.key_index import KeyIndex


class RunTable:
    """Finds runs by their first block and by the key of it, and cuts them where fates part.

    A run is in it from the moment that its blocks are registered until they are handed out again. One whose content
    has been forgotten stays until nobody holds it, so that tables are made of whole runs throughout.
    """

    def __init__(self, keep_duplicates: bool, free: FreeList) -> None:
        """Start empty; `free` holds the runs of it that are free, among others."""
        self._free = free
        self._index = KeyIndex(keep_duplicates)
        self._runs: dict[int, BlockRun] = {}
        self.find = self._index.find
        """`find(key)` is the run that begins with the key and that a hit returns, or None."""
        self.has_equal = self._index.has_others
        """`has_equal(run)` says whether there are more runs with the content of a run, which may have none."""

    def runs_of(self, block_ids: Items[int]) -> Iterator[tuple[BlockRun, int]]:
        """The runs that the beginning of a table consists of, and how many blocks of each belong to it."""
        start = 0
        while start < len(block_ids):
            run = self._runs[block_ids[start]]
            num_blocks = min(len(run), len(block_ids) - start)
            yield run, num_blocks
            start += num_blocks

    def add(self, run: BlockRun) -> None:
        """Take a run; if it has content, `align` has said where it ends."""
        self._runs[run.block_ids[0]] = run
        if run.keys is not None:
            self._index.add(run)

    def align(self, keys: BlockKeys, start: int, stop: int) -> int | None:
        """Where a run with `keys` from `start` on must end; None if nothing else has any of them, nor what follows.

        It ends at `stop`, or where a run with the same content ends or goes on with other content. That one is cut, so
        that runs with a key in common stay equal:

            keys of a table       k0 k1|k2 k3 x4       two blocks are registered already
            the run that begins        [k2 k3 k4]      becomes [k2 k3][k4]
            with the next key          [k2 k3]         can be added, and then [x4]
        """
        equals = self._index.with_key(keys[start])
        if not equals:
            return None
        equals[0].is_open = False
        num_equal = equals[0].num_equal(keys, stop)
        if num_equal < len(equals[0]):
            self.cut(equals[0], num_equal)
        return start + num_equal

    def cut(self, run: BlockRun, num_blocks: int) -> BlockRun:
        """Cut a run, and all others with the same content, after `num_blocks`; returns its head."""
        halves = self._index.cut(run, num_blocks)
        for head, rest in halves:
            self._runs[head.block_ids[0]] = head
            self._runs[rest.block_ids[0]] = rest
            if not head.num_holders:
                self._free.put_head(head, rest)
        return next(head for head, rest in halves if rest is run)

    def remove(self, run: BlockRun) -> None:
        """Let a free run go, which may have no content."""
        if self._runs.get(run.block_ids[0]) is run:
            del self._runs[run.block_ids[0]]
        if run.keys is not None:
            self._index.forget(run)

    def distrust(self, block_ids: Items[int]) -> None:
        """Forget the content of blocks, and of those to which nothing leads then.

        Args:
            block_ids: a table, or the last part of one that was registered.
        """
        doubtful = set(block_ids)
        if not doubtful:
            return
        # It is seldom that any are: all runs may be looked at.
        for run in list(self._runs.values()):
            if run.keys is not None and not doubtful.isdisjoint(run.block_ids):
                num_sound = next(i for i, block_id in enumerate(run.block_ids) if block_id in doubtful)
                if num_sound:
                    self.cut(run, num_sound)
                self._spoil(run)
        for run in list(self._runs.values()):
            if not self._is_led_to(run):
                self._spoil(run)

    def _spoil(self, run: BlockRun) -> None:
        self._index.forget(run)
        run.keys = run.key = None
        if not run.num_holders:
            del self._runs[run.block_ids[0]]

    def _is_led_to(self, run: BlockRun) -> bool:
        """Whether something holds all that comes before it."""
        index = 0
        while run.keys is not None and index < run.start:
            before = self._index.with_key(run.keys[index])
            if not before:
                return False
            index += before[0].num_equal(run.keys, run.start)
        return True
