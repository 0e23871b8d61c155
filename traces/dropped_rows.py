"""The rows of a file that cannot be replayed, counted by reason."""

from collections import Counter


class DroppedRows:
    """Counts rows that are left out; each reason fits behind "because".

    Attributes:
        by_reason: how many rows were dropped for which reason.
    """

    def __init__(self) -> None:
        self.by_reason: Counter[str] = Counter()

    def drop(self, reason: str, num_rows: int = 1) -> None:
        """Count rows that cannot be replayed."""
        self.by_reason[reason] += num_rows

    def drops(self, *lengths: tuple[str, int]) -> bool:
        """Return whether one of the lengths is 0; the row is then counted under the name of the first such."""
        for name, length in lengths:
            if length == 0:
                self.drop(f"{name} is 0")
                return True
        return False
