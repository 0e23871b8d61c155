"""Arrivals whose rate follows the hours of a day."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from traces.generation.checks import check_above_zero, check_from_zero

BATCH = 4096


@dataclass(frozen=True, slots=True)
class DiurnalArrivals:
    """A Poisson process at the rate rate * (1 - amplitude * cos(2 pi t / period_s)).

        rate * (1 + amplitude)         .-'-.
        rate                         .'     '.
        rate * (1 - amplitude)    _.'         '._
                                  0          period_s

    Attributes:
        rate: mean arrivals a second over whole periods.
        amplitude: from 0, always the same rate, to 1, none at the lowest point.
        period_s: length of a day, in seconds; the trace begins at the lowest point.

    Raises:
        TraceError: a setting is not in its range.
    """

    rate: float
    amplitude: float
    period_s: float

    def __post_init__(self) -> None:
        check_above_zero("rate", self.rate)
        check_from_zero("amplitude", self.amplitude, 1)
        check_above_zero("period", self.period_s)

    def draw_s(self, num: int, rng: np.random.Generator) -> npt.NDArray[np.float64]:
        """Return the first `num` arrivals in seconds from 0, ascending.

        By thinning (Lewis and Shedler, 1979): of arrivals at the highest rate each is kept with the share that the rate
        at its time is of it.
        """
        kept: list[npt.NDArray[np.float64]] = []
        num_kept, start_s = 0, 0.0
        while num_kept < num:
            times_s = start_s + np.cumsum(rng.exponential(1 / (self.rate * (1 + self.amplitude)), BATCH))
            start_s = float(times_s[-1])
            share = (1 - self.amplitude * np.cos(2 * math.pi * times_s / self.period_s)) / (1 + self.amplitude)
            kept.append(times_s[rng.random(BATCH) < share])
            num_kept += len(kept[-1])
        return np.concatenate(kept)[:num]
