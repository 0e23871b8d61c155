"""When requests arrive: rate, and how bursty they come."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

WINDOWS_S = (1, 10, 60, 600, 3600)
MIN_WINDOWS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispersion:
    """How unevenly arrivals fall into windows of one length.

    Attributes:
        window_s: length in seconds.
        num_windows: whole windows, counted from the first arrival.
        mean: mean number of arrivals in one.
        max: largest number.
        index: variance of the number over its mean: 1 for a Poisson process, more for bursts, 0 for a steady beat.
    """

    window_s: int
    num_windows: int
    mean: float
    max: int
    index: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrivalSummary:
    """Arrivals that a trace itself gives: single requests and first turns of sessions.

    Attributes:
        num: how many.
        first_s: the first, in seconds.
        last_s: the last.
        span_s: between them.
        rate: arrivals a second; None if all come at once.
        cv: coefficient of variation of the gaps between them: 1 for a Poisson process; None with fewer than two gaps,
            or if all come at once.
        longest_gap_s: the longest silence; None with one arrival.
        shortest_gap_s: shortest gap that is not 0; None if there is none.
        num_tied: arrivals at the same time as another.
        num_distinct: different times.
        dispersion: by length of the windows, those of which there are at least 10.
    """

    num: int
    first_s: float
    last_s: float
    span_s: float
    rate: float | None
    cv: float | None
    longest_gap_s: float | None
    shortest_gap_s: float | None
    num_tied: int
    num_distinct: int
    dispersion: tuple[Dispersion, ...]


class ArrivalCounts:
    """Takes arrivals one by one; what grows with a trace is a number for each second of it."""

    def __init__(self) -> None:
        self._num = self._num_tied = self._num_distinct = 0
        self._first_s = self._last_s = 0.0
        self._sum_of_squares = 0.0
        self._longest_gap_s = 0.0
        self._shortest_gap_s = math.inf
        self._is_tie_begun = False
        self._per_second: list[int] = []

    def add(self, arrival_s: float) -> None:
        """Take the next arrival, in seconds, no earlier than the one before."""
        if self._num == 0:
            self._first_s = self._last_s = arrival_s
            self._num_distinct = 1
        else:
            self._add_gap(arrival_s - self._last_s)
        self._num += 1
        self._last_s = arrival_s
        second = int(arrival_s - self._first_s)
        if second >= len(self._per_second):
            self._per_second.extend([0] * (second + 1 - len(self._per_second)))
        self._per_second[second] += 1

    def _add_gap(self, gap_s: float) -> None:
        if gap_s == 0:
            self._num_tied += 1 if self._is_tie_begun else 2
            self._is_tie_begun = True
            return
        self._is_tie_begun = False
        self._num_distinct += 1
        self._sum_of_squares += gap_s * gap_s
        self._longest_gap_s = max(self._longest_gap_s, gap_s)
        self._shortest_gap_s = min(self._shortest_gap_s, gap_s)

    def per_second(self) -> npt.NDArray[np.int64]:
        """Return how many arrivals fall into each second from the first arrival on."""
        return np.array(self._per_second, dtype=np.int64)

    def summary(self) -> ArrivalSummary:
        """Return the figures of all arrivals so far, of which there is at least one."""
        span_s = self._last_s - self._first_s
        return ArrivalSummary(
            num=self._num,
            first_s=self._first_s,
            last_s=self._last_s,
            span_s=span_s,
            rate=self._num / span_s if span_s else None,
            cv=self._cv(span_s),
            longest_gap_s=self._longest_gap_s if self._num > 1 else None,
            shortest_gap_s=self._shortest_gap_s if self._num_distinct > 1 else None,
            num_tied=self._num_tied,
            num_distinct=self._num_distinct,
            dispersion=self._dispersion(span_s),
        )

    def _cv(self, span_s: float) -> float | None:
        num_gaps = self._num - 1
        if num_gaps < 2 or span_s == 0:
            return None
        mean_s = span_s / num_gaps
        return math.sqrt(max(0.0, self._sum_of_squares / num_gaps - mean_s**2)) / mean_s

    def _dispersion(self, span_s: float) -> tuple[Dispersion, ...]:
        per_second = self.per_second()
        found = []
        for window_s in WINDOWS_S:
            num_windows = int(span_s // window_s)
            if num_windows >= MIN_WINDOWS:
                counts = per_second[: num_windows * window_s].reshape(num_windows, window_s).sum(axis=1)
                found.append(_dispersion(window_s, counts))
        return tuple(found)


def _dispersion(window_s: int, counts: npt.NDArray[np.int64]) -> Dispersion:
    # The first arrival lies in the first window, so the mean is above 0.
    mean = float(counts.mean())
    return Dispersion(
        window_s=window_s,
        num_windows=len(counts),
        mean=mean,
        max=int(counts.max()),
        index=float(counts.var()) / mean,
    )
