"""How far two runs decided alike."""

from dataclasses import dataclass

import pyarrow as pa

from analysis.run import Run
from analysis.schema import EVENTS, STEPS

_SHAPE = STEPS.names[STEPS.names.index("num_prefill_tokens") : STEPS.names.index("num_waiting")]


@dataclass(frozen=True, slots=True)
class DecisionMatch:
    """Whether two runs made the same decisions. Made by `of`.

    Attributes:
        is_equal: whether they did; None if one is partial and they agree as far as it goes.
        first_difference: first step in which they differ; None if they do not, or it is not known.
        is_known: whether both runs have recorded their decisions.
    """

    is_equal: bool | None
    first_difference: int | None
    is_known: bool = True

    @classmethod
    def of(cls, a: Run, b: Run) -> "DecisionMatch":
        """Digests and tables must both be equal; digests of whole runs alone know the order of rows, tables the place.

        Raises:
            RunError: a table is damaged.
        """
        if a.observation.by_client or b.observation.by_client:
            return cls(None, None, is_known=False)
        first_difference = _first_difference(a, b)
        digests = [(run.summary or {}).get("decision_digest") for run in (a, b)]
        is_whole = a.is_complete and b.is_complete
        if None not in digests and is_whole:
            return cls(digests[0] == digests[1] and first_difference is None, first_difference)
        if first_difference is not None:
            return cls(False, first_difference)
        return cls(True if is_whole else None, None)

    @property
    def text(self) -> str:
        """One sentence."""
        if not self.is_known:
            return "Decisions: not known, since a client cannot see them."
        if self.is_equal:
            return "Decisions: equal in every step."
        if self.is_equal is None:
            return "Decisions: equal as far as both runs got."
        if self.first_difference is None:
            return "Decisions: they differ."
        return f"Decisions: they differ, first in step {self.first_difference}."

    @property
    def end(self) -> int | None:
        """Step before which decisions are equal; None if they are in all steps that both runs have."""
        is_nowhere_known = not self.is_known or (self.is_equal is False and self.first_difference is None)
        return 0 if is_nowhere_known else self.first_difference


def _first_difference(a: Run, b: Run) -> int | None:
    """First step in which events or shapes differ; of partial runs only what both have is looked at."""
    is_whole = a.is_complete and b.is_complete
    found = [
        _first_row(a.table(name, columns), b.table(name, columns), is_whole)
        for name, columns in (("steps", ["step", *_SHAPE]), ("events", EVENTS.names))
    ]
    return min((step for step in found if step is not None), default=None)


def _first_row(a: pa.Table, b: pa.Table, is_whole: bool) -> int | None:
    """Step of the first row that differs; if the tables are whole, also of the first that only one of them has."""
    length = min(len(a), len(b))
    if a.slice(0, length).equals(b.slice(0, length)):
        longer = max(a, b, key=len)
        return _step(longer, length) if is_whole and len(longer) > length else None
    low, high = 0, length  # the first `low` rows are equal, the first `high` are not
    while high - low > 1:
        middle = (low + high) // 2
        is_equal = a.slice(low, middle - low).equals(b.slice(low, middle - low))
        low, high = (middle, high) if is_equal else (low, middle)
    return min(_step(a, low), _step(b, low))


def _step(table: pa.Table, row: int) -> int:
    return int(table.column("step")[row].as_py())
