"""Which runs of blocks hold the content that a key stands for."""

from engine.block_run import BlockRun


class KeyIndex:
    """Finds runs by the key of their first block.

    Several runs can come to hold the same content (two requests computed it, neither knew of the other). With
    `keep_duplicates` all are kept and the oldest is returned while it lives; without, the newest replaces the others,
    which then cannot be found any more though they may live on.

    Runs with a key in common are equal, all their keys in order; whoever adds one cuts them so. Nor is a key anywhere
    without the key before it, since the tail of a table is freed and handed out before its head:

        k0  k1  k2 | k3  k4 | k5        found by k0, by k3, by k5
                   | k3  k4 |           by k3, when the one above has gone
                            | k6  k7    by k6

    So where the keys of a sequence are followed from the first, each is that of the first block of a run, or the next
    of the run that the key before is in, or in no run at all.
    """

    def __init__(self, keep_duplicates: bool) -> None:
        """Start with nothing."""
        self._keep_duplicates = keep_duplicates
        self._found: dict[int, BlockRun] = {}
        self._others: dict[int, list[BlockRun]] = {}
        self.find = self._found.get
        """`find(key)` is the run that begins with the key and that a hit returns, or None."""

    def with_key(self, key: int) -> list[BlockRun]:
        """All runs that begin with a key, whether or not a hit can return them."""
        found, others = self._found.get(key), self._others.get(key, [])
        return others if found is None else [found, *others]

    def has_others(self, run: BlockRun) -> bool:
        """Whether there are more runs with the content of this one, which may have none."""
        return bool(self._others) and run.key in self._others

    def add(self, run: BlockRun) -> None:
        """Let a run be found, at once or when older ones have gone."""
        key = _key(run)
        found = self._found.setdefault(key, run)
        if found is run:
            return
        if not self._keep_duplicates:
            self._found[key], run = run, found
        self._others.setdefault(key, []).append(run)

    def forget(self, run: BlockRun) -> None:
        """Let a run that was added not be found any more."""
        key = _key(run)
        others = self._others.get(key)
        if self._found.get(key) is not run:
            assert others is not None, "the run was never added"
            others.remove(run)
        elif others and self._keep_duplicates:
            self._found[key] = others.pop(0)
        else:
            del self._found[key]
        if others is not None and not others:
            del self._others[key]

    def cut(self, run: BlockRun, num_blocks: int) -> list[tuple[BlockRun, BlockRun]]:
        """Cut a run and all that are equal to it after `num_blocks`; returns (head, what is left) of each."""
        key = _key(run)
        found, others = self._found.get(key), self._others.get(key)
        halves = []
        if found is not None:
            self._found[key] = head = found.cut(num_blocks)
            self._found[_key(found)] = found
            halves.append((head, found))
        if others:
            self._others[key] = heads = [other.cut(num_blocks) for other in others]
            self._others[_key(others[0])] = others
            halves += zip(heads, others, strict=True)
        return halves


def _key(run: BlockRun) -> int:
    assert run.key is not None, "the run has no content"
    return run.key
