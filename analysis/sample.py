"""A sample of measured values and its statistics."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Values with how often each occurs: ten million equal gaps between tokens need one entry. Made by `of`.

    Attributes:
        values: in ascending order.
        upto: number of occurrences of this and all smaller entries.
    """

    values: NDArray[np.float64]
    upto: NDArray[np.int64]

    @classmethod
    def of(cls, values: NDArray[np.float64], counts: NDArray[np.int64] | None = None) -> "Sample":
        """Makes a sample; NaN means undefined and is left out.

        Args:
            values: in any order.
            counts: how often each value occurs, at least 1; once each if None.
        """
        is_defined = ~np.isnan(values)
        values = values[is_defined]
        counts = np.ones(len(values), np.int64) if counts is None else counts[is_defined]
        order = np.argsort(values, kind="stable")
        return cls(values[order], np.cumsum(counts[order], dtype=np.int64))

    @property
    def size(self) -> int:
        """Number of occurrences."""
        return int(self.upto[-1]) if len(self.upto) else 0

    def total(self) -> float:
        """Sum over all occurrences."""
        return float((self.values * self._counts()).sum())

    def mean(self) -> float | None:
        """Arithmetic mean; None if the sample is empty."""
        return self.total() / self.size if self.size else None

    def std(self) -> float | None:
        """Standard deviation with divisor n; None if the sample is empty."""
        mean = self.mean()
        if mean is None:
            return None
        return float(np.sqrt(((self.values - mean) ** 2 * self._counts()).sum() / self.size))

    def percentile(self, percent: float) -> float | None:
        """Percentile by numpy's linear rule; None if the sample is empty.

        Args:
            percent: from 0 to 100.
        """
        if not self.size:
            return None
        rank = (self.size - 1) * (percent / 100)
        below = int(rank)
        neighbours = [self._occurrence(below), self._occurrence(min(below + 1, self.size - 1))]
        return float(np.quantile(neighbours, rank - below))

    def _occurrence(self, rank: int) -> float:
        return float(self.values[np.searchsorted(self.upto, rank, side="right")])

    def _counts(self) -> NDArray[np.int64]:
        return np.diff(self.upto, prepend=0)
