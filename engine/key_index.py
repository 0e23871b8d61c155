"""Which blocks hold the content that a key stands for."""

from collections.abc import Sequence


class KeyIndex:
    """Maps a key to the block that a hit returns, and a block to the key that it carries.

    Several blocks can come to hold the same content (two requests computed it, neither knew of the other). With
    `keep_duplicates` all are kept and the oldest is returned while it lives; without, the newest replaces the others,
    which then cannot be found any more though they may live on.
    """

    def __init__(self, num_blocks: int, keep_duplicates: bool) -> None:
        """Start with no block that carries a key."""
        self._keep_duplicates = keep_duplicates
        self._key: list[int | None] = [None] * num_blocks
        self._block: dict[int, int] = {}
        self._others: dict[int, dict[int, None]] = {}
        self.find = self._block.get
        """`find(key)` is the block that a hit returns, or None."""
        self.key_of = self._key.__getitem__
        """`key_of(block_id)` is the key that a block carries, or None."""

    def add(self, keys: Sequence[int], block_ids: Sequence[int]) -> None:
        """Let each block carry its key, and the key find it, at once or when older ones have gone."""
        key_of, find_or_set = self._key, self._block.setdefault
        for key, block_id in zip(keys, block_ids, strict=True):
            key_of[block_id] = key
            if find_or_set(key, block_id) != block_id:
                self._add_copy(key, block_id)

    def forget(self, block_ids: Sequence[int]) -> None:
        """Let blocks carry no key; each that had one is not found any more."""
        key_of, block = self._key, self._block
        # With duplicates kept, a key that no other block carries finds the block that does.
        has_copies = bool(self._others) or not self._keep_duplicates
        for block_id in block_ids:
            key = key_of[block_id]
            if key is not None:
                key_of[block_id] = None
                if has_copies:
                    self._discard(key, block_id)
                else:
                    del block[key]

    def _add_copy(self, key: int, block_id: int) -> None:
        if self._keep_duplicates:
            self._others.setdefault(key, {})[block_id] = None
        else:
            self._block[key] = block_id

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
