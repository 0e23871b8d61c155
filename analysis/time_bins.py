"""A run over time, in equal pieces of its clock: few enough to draw, however many steps and requests there are."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from analysis.metrics import Number, Span, levels
from analysis.sample import Sample
from analysis.step_columns import Bools, Floats, Ints, StepColumns


class Extent(NamedTuple):
    """What a value was in each bin; NaN where there is nothing to tell.

    Attributes:
        lowest: smallest value in the bin.
        mean: its mean.
        highest: largest value in the bin.
    """

    lowest: Floats
    mean: Floats
    highest: Floats


@dataclass(frozen=True, slots=True, eq=False)
class TimeBins:
    """Bins of one width, without gaps. Made by `of`.

    A bin holds its start but not its end; the last one holds both.

    Attributes:
        edges_s: start of each bin, and the end of the last.
    """

    edges_s: Floats

    @classmethod
    def of(cls, span: Span, width_s: float) -> "TimeBins":
        """Makes bins from the start of the span on, as many as it takes to cover it; at least one.

        Args:
            span: what to cover.
            width_s: width of a bin in seconds, above 0.
        """
        num = max(int(np.ceil(span.length_s / width_s - 1e-9)), 1)
        return cls(span.start_s + width_s * np.arange(num + 1, dtype=np.float64))

    def __len__(self) -> int:
        return len(self.edges_s) - 1

    @property
    def width_s(self) -> float:
        """Width of each bin, in seconds."""
        return float(self.edges_s[1] - self.edges_s[0])

    @property
    def middles_s(self) -> Floats:
        """The middle of each bin."""
        return (self.edges_s[:-1] + self.edges_s[1:]) / 2

    def level(self, values: NDArray[Number], steps: StepColumns) -> Extent:
        """What a level was over time; `analysis.metrics.levels` says how steps make it. The mean is weighted by time.

        level      |  2  |--3--| 0 |-1-|
        bins       |      |      |      |
        lowest         2      0      0
        highest        3      3      1
        """
        starts_s, level = _pieces(values, steps)
        first = np.searchsorted(starts_s, self.edges_s[:-1], side="right") - 1
        last = np.searchsorted(starts_s, self.edges_s[1:], side="left") - 1
        # Even segments of reduceat are the bins; odd ones, from bin to bin, are dropped.
        bounds, padded = np.column_stack([first, last + 1]).ravel(), np.append(level, 0.0)
        return Extent(
            lowest=np.minimum.reduceat(padded, bounds)[::2],
            mean=np.diff(_area(starts_s[1:], level[1:-1], self.edges_s)) / self.width_s,
            highest=np.maximum.reduceat(padded, bounds)[::2],
        )

    def per_step(self, values: NDArray[Number], steps: StepColumns) -> Extent:
        """What a value was in the steps that started in each bin; each step counts alike, whatever it took."""
        bins, is_inside = self._bins(steps.start_s)
        values, bins = values[is_inside].astype(np.float64), bins[is_inside]
        lowest, highest = np.full(len(self), np.inf), np.full(len(self), -np.inf)
        np.minimum.at(lowest, bins, values)
        np.maximum.at(highest, bins, values)
        counts = np.bincount(bins, minlength=len(self))
        mean = np.full(len(self), np.nan)
        np.divide(np.bincount(bins, values, minlength=len(self)), counts, out=mean, where=counts > 0)
        return Extent(np.where(counts, lowest, np.nan), mean, np.where(counts, highest, np.nan))

    def sums(self, times_s: Floats, amounts: Ints | Floats | None = None) -> Floats:
        """Sums up the amounts that fall into each bin; counts them if there are none. A time of NaN falls nowhere."""
        bins, is_inside = self._bins(times_s)
        weights = None if amounts is None else amounts[is_inside]
        return np.bincount(bins[is_inside], weights, minlength=len(self)).astype(np.float64)

    def samples(self, times_s: Floats, values: Floats) -> list[Sample]:
        """The values whose times fall into each bin."""
        bins, is_inside = self._bins(times_s)
        order = np.argsort(bins[is_inside], kind="stable")
        cuts = np.searchsorted(bins[is_inside][order], np.arange(1, len(self)))
        return [Sample.of(piece) for piece in np.split(values[is_inside][order], cuts)]

    def _bins(self, times_s: Floats) -> tuple[Ints, Bools]:
        bins = np.searchsorted(self.edges_s, times_s, side="right") - 1
        bins[times_s == self.edges_s[-1]] = len(self) - 1
        return bins, (bins >= 0) & (bins < len(self)) & ~np.isnan(times_s)


def percentiles(samples: Sequence[Sample], percent: float) -> Floats:
    """A percentile of each sample; NaN of an empty one."""
    values = (sample.percentile(percent) for sample in samples)
    return np.array([np.nan if value is None else value for value in values])


def _pieces(values: NDArray[Number], steps: StepColumns) -> tuple[Floats, Floats]:
    """Start and level of each piece of time; the first starts at minus infinity, and at level 0 as the last one."""
    edges_s, behind = levels(values, steps)
    # Back to back, steps leave no time between them: nothing is seen of a level that holds for none.
    is_seen = np.diff(edges_s, prepend=-np.inf, append=np.inf) > 0
    starts_s: Floats = np.concatenate([[-np.inf], edges_s])[is_seen]
    return starts_s, behind[is_seen].astype(np.float64)


def _area(edges_s: Floats, level: Floats, at_s: Floats) -> Floats:
    """Integral, up to some times, of a level that is 0 outside of the edges."""
    if not len(edges_s):
        return np.zeros(len(at_s))
    upto: Floats = np.concatenate([[0.0], np.cumsum(np.diff(edges_s) * level)])
    return np.interp(at_s, edges_s, upto)
