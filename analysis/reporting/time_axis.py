"""One time axis for all runs of a report: seconds since each one's first arrival or step."""

import math
from collections.abc import Iterator, Sequence

import numpy as np

from analysis.reporting.drawn import drawn
from analysis.reporting.figure import Row
from analysis.reporting.subject import Subject
from analysis.step_columns import Floats
from analysis.time_bins import Extent, TimeBins

TIME = "time since the first arrival (s)"
MAX_BINS = 200
MAX_SAMPLE_BINS = 60
_REQUESTS_PER_BIN = 10


class TimeAxis:
    """Cuts runs into bins of one width.

    Args:
        subjects: all runs of the report.
    """

    def __init__(self, subjects: Sequence[Subject]) -> None:
        spans = [subject.span for subject in subjects]
        self._longest_s = max((span.length_s for span in spans if span is not None), default=0.0)
        self._most_requests = max((len(subject.columns.requests) for subject in subjects), default=0)

    @property
    def width_s(self) -> float:
        """Width of a bin in which steps are put together: a 200th of the longest run, rounded up to two digits."""
        return self._width_s(MAX_BINS)

    @property
    def sample_width_s(self) -> float:
        """Width of a bin for statistics over requests: there are fewer of them than of steps."""
        return self._width_s(min(max(self._most_requests // _REQUESTS_PER_BIN, 1), MAX_SAMPLE_BINS))

    def _width_s(self, num: int) -> float:
        exact_s = self._longest_s / num
        if exact_s <= 0:
            return 1.0
        unit = 10.0 ** (math.floor(math.log10(exact_s)) - 1)
        return float(f"{math.ceil(exact_s / unit - 1e-9) * unit:.6g}")


def extent_rows(label: str, bins: TimeBins, extent: Extent, scale: float = 1.0) -> Iterator[Row]:
    """A row for each bin with something in it."""
    for time_s, *values in zip(_since_start_s(bins), *extent, strict=True):
        if not math.isnan(values[1]):
            lowest, mean, highest = (drawn(scale * value) for value in values)
            yield {"series": label, "time": drawn(time_s), "lowest": lowest, "mean": mean, "highest": highest}


def value_rows(label: str, bins: TimeBins, values: Floats, **more: Floats) -> Iterator[Row]:
    """A row for each bin with a value."""
    for k, time_s in enumerate(_since_start_s(bins)):
        if not math.isnan(values[k]):
            others = {name: drawn(float(other[k])) for name, other in more.items()}
            yield {"series": label, "time": drawn(float(time_s)), "value": drawn(float(values[k])), **others}


def _since_start_s(bins: TimeBins) -> Floats:
    middles: Floats = bins.middles_s - bins.edges_s[0]
    return np.asarray(middles)
