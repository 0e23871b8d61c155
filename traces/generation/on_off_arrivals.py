"""Arrivals in bursts with silence between."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from traces.generation.checks import check_above_zero


@dataclass(frozen=True, slots=True)
class OnOffArrivals:
    """A Poisson process that is switched on and off by the clock.

        0      on_s          on_s + off_s
        |x x  xx|               |xx x  x|               |x  ...
          burst      silence      burst     silence

    Attributes:
        rate: mean arrivals a second, silence included; in a burst there are (on_s + off_s) / on_s times as many.
        on_s: length of a burst, in seconds.
        off_s: length of the silence after it.

    Raises:
        TraceError: a setting is not above 0.
    """

    rate: float
    on_s: float
    off_s: float

    def __post_init__(self) -> None:
        for name, value in (("rate", self.rate), ("on", self.on_s), ("off", self.off_s)):
            check_above_zero(name, value)

    def draw_s(self, num: int, rng: np.random.Generator) -> npt.NDArray[np.float64]:
        """Return the first `num` arrivals in seconds from 0, ascending."""
        burst_rate = self.rate * (self.on_s + self.off_s) / self.on_s
        # Time within bursts alone, into which the silences are then put.
        burst_time_s = np.cumsum(rng.exponential(1 / burst_rate, num))
        return burst_time_s + np.floor(burst_time_s / self.on_s) * self.off_s
