"""Which step shapes a cost model was fitted to."""

from collections.abc import Mapping
from dataclasses import dataclass

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
