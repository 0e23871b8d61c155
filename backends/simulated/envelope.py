"""Which step shapes a cost model was fitted to."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from backends.cost_model import FloatColumn, StepColumns
from backends.simulated.step_class import STEP_CLASSES, step_classes

MEASURED = (
    "num_prefill_tokens",
    "num_prefill_seqs",
    "prefill_qk",
    "max_context",
    "num_decode_seqs",
    "decode_context",
)
"""Columns whose ranges are kept."""
_SHARED = "shared_context"
"""Kept for steps with decode rows; what chunks have in common saves them nothing."""


def columns_of(step_class: str) -> tuple[str, ...]:
    """Columns whose ranges are kept for a class of steps."""
    return MEASURED if step_class.startswith("prefill") else (*MEASURED, _SHARED)


class Excess(NamedTuple):
    """In what steps lie outside.

    Attributes:
        size: name of the column; of steps whose class was not measured, that of the class.
        num_steps: how many.
        furthest: the value furthest outside; None for a class.
        limit: the end of the range that it lies beyond; None for a class.
    """

    size: str
    num_steps: int
    furthest: float | None = None
    limit: float | None = None


@dataclass(frozen=True, slots=True)
class Envelope:
    """Ranges of step shapes, class by class.

    Attributes:
        ranges: by name of the class and of the column, smallest and largest value measured; classes that were not
            measured are missing.
    """

    ranges: Mapping[str, Mapping[str, tuple[float, float]]]

    @classmethod
    def around(cls, steps: StepColumns[FloatColumn]) -> "Envelope":
        """The smallest envelope that holds these steps."""
        classes, ranges = step_classes(steps), {}
        for number, name in enumerate(STEP_CLASSES):
            rows = classes == number
            if rows.any():
                columns = {column: getattr(steps, column)[rows] for column in columns_of(name)}
                ranges[name] = {
                    column: (float(values.min()), float(values.max())) for column, values in columns.items()
                }
        return cls(ranges)

    def is_outside(self, steps: StepColumns[FloatColumn]) -> NDArray[np.bool_]:
        """Which of these steps have a column outside its range, or a class that was not measured."""
        classes = step_classes(steps)
        is_outside = np.ones(len(classes), dtype=np.bool_)
        for name, columns in self.ranges.items():
            rows = classes == STEP_CLASSES.index(name)
            is_outside[rows] = False
            for column, (low, high) in columns.items():
                values = getattr(steps, column)
                is_outside |= rows & ((values < low) | (values > high))
        return is_outside

    def excesses(self, steps: StepColumns[FloatColumn]) -> list[Excess]:
        """In what these steps lie outside, that of most steps first; a step may lie outside in several sizes."""
        classes, found = step_classes(steps), dict[str, Excess]()
        for number, name in enumerate(STEP_CLASSES):
            rows = classes == number
            if rows.any() and name not in self.ranges:
                found[name] = Excess(name, int(rows.sum()))
            for column, limits in self.ranges.get(name, {}).items():
                excess = _excess(column, getattr(steps, column)[rows], limits)
                before = found.get(column, Excess(column, 0))
                most = max(excess, before, key=lambda each: each.num_steps)
                found[column] = most._replace(num_steps=excess.num_steps + before.num_steps)
        return sorted((each for each in found.values() if each.num_steps), key=lambda each: -each.num_steps)


def _excess(column: str, values: FloatColumn, limits: tuple[float, float]) -> Excess:
    low, high = limits
    is_below, is_above = values < low, values > high
    num_steps = int((is_below | is_above).sum())
    if not num_steps:
        return Excess(column, 0)
    extreme, limit = (values.max(), high) if is_above.any() else (values.min(), low)
    return Excess(column, num_steps, float(extreme), limit)
