"""How many requests ran and waited over time, in two runs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from analysis import metrics
from analysis.metrics import LevelDifference
from analysis.step_columns import StepColumns

LEVELS = ("running", "waiting")


@dataclass(frozen=True, slots=True)
class LevelError:
    """One level of two runs, over the time in which either was under way. Made by `level_errors`.

    Attributes:
        level: "running" or "waiting".
        difference: of the second run from the first.
        spread: of the repetition of the first that is farthest from it; None if there is none.
    """

    level: str
    difference: LevelDifference
    spread: LevelDifference | None

    def as_dict(self) -> dict[str, Any]:
        """Returns all values for JSON."""
        return {
            "level": self.level,
            "difference": self.difference._asdict(),
            "spread": self.spread._asdict() if self.spread else None,
        }


def level_errors(a: StepColumns, b: StepColumns, repetitions: Sequence[StepColumns] = ()) -> Iterator[LevelError]:
    """Compares how many ran and waited, as time went on; yields nothing if neither run stepped."""
    for level in LEVELS:
        difference = _difference(level, a, b)
        others = [_difference(level, a, other) for other in repetitions]
        known = [other for other in others if other is not None]
        if difference is not None:
            yield LevelError(level, difference, max(known, key=lambda other: other.mean_abs) if known else None)


def _difference(level: str, a: StepColumns, b: StepColumns) -> LevelDifference | None:
    return metrics.level_difference(getattr(a, f"num_{level}"), a, getattr(b, f"num_{level}"), b)
