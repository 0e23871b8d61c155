"""Which things belong together, told pair by pair."""


class DisjointSets:
    """Sets of numbers; each is named by one of its members."""

    def __init__(self) -> None:
        self._parents: dict[int, int] = {}

    def name_of(self, member: int) -> int:
        """Return the name of a member's set; a member that was never joined is alone in its own."""
        root = member
        while (parent := self._parents.setdefault(root, root)) != root:
            root = parent
        while member != root:  # so that the next look-up is short
            self._parents[member], member = root, self._parents[member]
        return root

    def join(self, child: int, parent: int) -> None:
        """Make one set of the sets of both, named as the parent's."""
        self._parents[self.name_of(child)] = self.name_of(parent)
