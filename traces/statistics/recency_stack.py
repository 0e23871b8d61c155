"""How recently things were used, counted in other things used since."""


class RecencyStack:
    """A list of things by their last use, in which the place of any is found quickly.

    An LRU cache of C things holds the first C of the list, whatever C is; so the place at which a thing stands when it
    is used again says which sizes of a cache hit it (Mattson et al., 1970).

    Each use gets a slot; a thing is where its last use is, and a Fenwick tree counts the slots in use behind one:

        slots    1 2 3 4 5 6
        uses     a b a c b d
        in use       x x x x     depth of a: 4 (d, b, c, a)

    When slots run out, those in use are moved together.
    """

    def __init__(self) -> None:
        self._slots: dict[int, int] = {}
        self._tree = [0] * 1025
        self._num_slots = 0

    def __len__(self) -> int:
        """Number of different things."""
        return len(self._slots)

    def depth(self, key: int) -> int | None:
        """Return the place of a thing, 1 for the one used last; None if it was never used."""
        slot = self._slots.get(key)
        if slot is None:
            return None
        tree, num_upto = self._tree, 0
        while slot:
            num_upto += tree[slot]
            slot &= slot - 1
        return len(self._slots) - num_upto + 1

    def use(self, key: int) -> None:
        """Move a thing to the first place."""
        if self._num_slots + 1 >= len(self._tree):
            self._make_room()
        slot = self._slots.get(key)
        if slot is not None:
            self._count(slot, -1)
        self._num_slots += 1
        self._slots[key] = self._num_slots
        self._count(self._num_slots, 1)

    def _count(self, slot: int, change: int) -> None:
        tree, num = self._tree, len(self._tree)
        while slot < num:
            tree[slot] += change
            slot += slot & -slot

    def _make_room(self) -> None:
        """Number the slots in use from 1 and leave as many free behind them."""
        in_order = sorted(self._slots, key=self._slots.__getitem__)
        self._slots = {key: slot for slot, key in enumerate(in_order, 1)}
        self._num_slots = len(in_order)
        num = 2 * max(1024, self._num_slots) + 1
        # Entry i counts the last (i & -i) slots up to i, of which those beyond the last one in use are free.
        used = self._num_slots
        self._tree = [max(0, min(slot, used) - (slot - (slot & -slot))) for slot in range(num)]
