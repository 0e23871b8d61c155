"""Which blocks hold the content that a key stands for."""

from collections.abc import Sequence


class KeyIndex:
    """Maps a key to the block that a hit returns.

    Several blocks can come to hold the same content (two requests computed it, neither knew of the other). With
    `keep_duplicates` all are kept and the oldest is returned while it lives; without, the newest replaces the others,
    which then cannot be found any more though they may live on.
    """

    def __init__(self, keep_duplicates: bool) -> None:
        """Start empty."""
        self._keep_duplicates = keep_duplicates
        self._block: dict[int, int] = {}
        self._others: dict[int, dict[int, None]] = {}
        self.find = self._block.get
        """`find(key)` is the block that a hit returns, or None."""

    def add(self, keys: Sequence[int], block_ids: Sequence[int]) -> None:
        """Let each key find its block, at once or, with duplicates kept, when older ones have gone."""
        if not self._keep_duplicates:
            self._block.update(zip(keys, block_ids, strict=True))
            return
        find_or_set = self._block.setdefault
        for key, block_id in zip(keys, block_ids, strict=True):
            if find_or_set(key, block_id) != block_id:
                self._others.setdefault(key, {})[block_id] = None

    def discard(self, keys: Sequence[int], block_ids: Sequence[int]) -> None:
        """Let each key no longer find its block, which carries the key; no effect where a newer one has replaced it."""
        if self._keep_duplicates and self._others.keys().isdisjoint(keys):
            # The common case. With duplicates kept, a block that carries a key alone is the one that the key finds.
            for key in keys:
                del self._block[key]
            return
        for key, block_id in zip(keys, block_ids, strict=True):
            self._discard(key, block_id)

    def _discard(self, key: int, block_id: int) -> None:
        others = self._others.get(key)
        if self._block.get(key) != block_id:
            if others is not None:
                others.pop(block_id, None)
        elif others:
            heir = next(iter(others))
            del others[heir]
            self._block[key] = heir
        else:
            del self._block[key]
        if others is not None and not others:
            del self._others[key]

    def items(self) -> list[tuple[int, list[int]]]:
        """Every key with all its blocks, the one that a hit returns first."""
        return [(key, [block_id, *self._others.get(key, ())]) for key, block_id in self._block.items()]

    def __len__(self) -> int:
        """Number of keys."""
        return len(self._block)
