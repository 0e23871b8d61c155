"""Measured steps to fit to."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backends.cost_model import FloatColumn, StepColumns, StepTimes

Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Samples:
    """Steps with their times, one entry a step.

    Attributes:
        steps: their shapes.
        before: shapes of the steps right before them.
        has_before: whether there was one, so that what the host does after a step fell into the next one's time.
        times: measured.
        scale_s: durations by which errors are divided; measured ones would give steps that were quick by chance more
            weight than slow ones, and so make means too small.
        is_held_out: whether the step serves to test a fit to the others.
        is_served: whether the step is one of a run, not of a profile.
        slowness: how many times as long the host took that launched the step as the one whose times the host's part is.
    """

    steps: StepColumns[FloatColumn]
    before: StepColumns[FloatColumn]
    has_before: Flags
    times: StepTimes[FloatColumn]
    scale_s: FloatColumn
    is_held_out: Flags
    is_served: Flags
    slowness: FloatColumn

    def __len__(self) -> int:
        return len(self.has_before)

    def where(self, rows: Flags) -> "Samples":
        """Some of them."""
        return Samples(
            _taken(self.steps, rows),
            _taken(self.before, rows),
            self.has_before[rows],
            StepTimes(*(column[rows] for column in self.times)),
            self.scale_s[rows],
            self.is_held_out[rows],
            self.is_served[rows],
            self.slowness[rows],
        )

    def with_host(self, factor: float) -> "Samples":
        """The same with `factor` times the host's part of all times; launches stay those of the host that it was."""
        device_s = self.times.device_s
        duration_s = device_s + factor * (self.times.duration_s - device_s)
        scale_s = device_s + factor * (self.scale_s - device_s)
        return replace(self, times=StepTimes(duration_s, device_s), scale_s=scale_s)

    @classmethod
    def joined(cls, parts: Sequence["Samples"]) -> "Samples":
        """All of these."""

        def join(name: str) -> Any:  # noqa: ANN401  # an array, or a tuple of arrays
            values = [getattr(part, name) for part in parts]
            if isinstance(values[0], np.ndarray):
                return np.concatenate(values)
            return type(values[0])(*[np.concatenate(columns) for columns in zip(*values, strict=True)])

        return cls(*[join(field.name) for field in fields(cls)])


def _taken(steps: StepColumns[FloatColumn], rows: Flags) -> StepColumns[FloatColumn]:
    return StepColumns(*(column[rows] for column in steps))
