"""Functions given by a few points."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import overload

import numpy as np
from numpy.typing import NDArray

from backends.cost_model import FloatColumn, Value

Band = int | NDArray[np.intp]
"""Number of a function of a set: one for one step, a column for many."""


class Curves:
    """Piecewise linear functions over the same points; several of them, told apart by a number, the band.

        value
          |            _____ last slope, or level
          |      ____/
          |  ___/
          |_/___|______|____ points
        level before the first point

    Args:
        points: rising.
        bands: for each band the value at each point.
        is_level_beyond: whether a function keeps its last value beyond the last point, instead of its last slope.
    """

    def __init__(
        self, points: Sequence[float], bands: Sequence[Sequence[float]], *, is_level_beyond: bool = False
    ) -> None:
        self._points = list(points)
        self._segments = [_segments(self._points, values, is_level_beyond) for values in bands]
        self._origins, self._starts, self._slopes = np.array(self._segments, dtype=np.float64).transpose(2, 0, 1).copy()

    def at(self, x: Value, band: Band = 0) -> Value:
        """Values at `x`, of one band each."""
        if isinstance(x, float):
            origin, start, slope = self._segments[int(band)][bisect_right(self._points, x)]
            return start + (x - origin) * slope
        segment = np.searchsorted(self._points, x, side="right")
        column: FloatColumn = (
            self._starts[band, segment] + (x - self._origins[band, segment]) * self._slopes[band, segment]
        )
        return column


class Bands:
    """Which of several bands a number falls into.

    Args:
        limits: rising; each is the largest number of its band, what is beyond the last falls into one more.
    """

    def __init__(self, limits: Sequence[float]) -> None:
        self._limits = list(limits)

    @overload
    def of(self, x: float) -> int: ...

    @overload
    def of(self, x: FloatColumn) -> NDArray[np.intp]: ...

    def of(self, x: float | FloatColumn) -> Band:
        """Numbers of the bands of `x`."""
        if isinstance(x, float):
            return bisect_left(self._limits, x)
        return np.searchsorted(self._limits, x, side="left")


def _segments(
    points: Sequence[float], values: Sequence[float], is_level_beyond: bool
) -> list[tuple[float, float, float]]:
    """(x, value at it, slope from it on) of the stretch before the first point and of those after each."""
    slopes = [
        (after - before) / (right - left)
        for left, right, before, after in zip(points, points[1:], values, values[1:], strict=False)
    ]
    last = 0.0 if is_level_beyond or not slopes else slopes[-1]
    stretches = list(zip(points, values, [*slopes, last], strict=True))
    return [(points[0], values[0], 0.0), *stretches]
