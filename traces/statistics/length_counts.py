"""Lengths in tokens, counted, so that exact percentiles of any number of them need little memory."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

PERCENTILES = (50.0, 90.0, 99.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class LengthSummary:
    """Lengths of prompts or of outputs, in tokens.

    Attributes:
        total: their sum.
        mean: arithmetic mean.
        min: shortest.
        p50: median; percentiles are linear between neighbours, as numpy's are.
        p90: 90th percentile.
        p99: 99th percentile.
        max: longest.
        most_common: length that occurs most often, the shortest of several.
        most_common_share: share of requests that have it.
        at_max_share: share of requests that have the longest.
    """

    total: int
    mean: float
    min: int
    p50: float
    p90: float
    p99: float
    max: int
    most_common: int
    most_common_share: float
    at_max_share: float


class LengthCounts:
    """How often each length occurs."""

    def __init__(self) -> None:
        self._counts: dict[int, int] = {}

    def add(self, length: int) -> None:
        """Count a length in tokens."""
        self._counts[length] = self._counts.get(length, 0) + 1

    def columns(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return the lengths that occur, ascending, and how often each does."""
        pairs = np.array(sorted(self._counts.items()), dtype=np.int64).reshape(-1, 2)
        return pairs[:, 0], pairs[:, 1]

    def summary(self) -> LengthSummary:
        """Return the figures of all lengths so far, of which there is at least one."""
        lengths, counts = self.columns()
        num = int(counts.sum())
        # In whole numbers: a sum of floats would round.
        total = sum(length * count for length, count in self._counts.items())
        p50, p90, p99 = (_percentile(lengths, counts, percent) for percent in PERCENTILES)
        most = int(counts.argmax())
        return LengthSummary(
            total=total,
            mean=total / num,
            min=int(lengths[0]),
            p50=p50,
            p90=p90,
            p99=p99,
            max=int(lengths[-1]),
            most_common=int(lengths[most]),
            most_common_share=int(counts[most]) / num,
            at_max_share=int(counts[-1]) / num,
        )


def _percentile(lengths: npt.NDArray[np.int64], counts: npt.NDArray[np.int64], percent: float) -> float:
    """The value at rank percent / 100 * (n - 1) from 0, linear between two ranks."""
    ends = np.cumsum(counts)
    rank = percent / 100 * (int(ends[-1]) - 1)
    below = int(rank)
    above = min(below + 1, int(ends[-1]) - 1)
    low, high = (int(lengths[np.searchsorted(ends, at, side="right")]) for at in (below, above))
    return low + (high - low) * (rank - below)
