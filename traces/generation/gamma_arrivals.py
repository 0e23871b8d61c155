"""Arrivals whose gaps are gamma distributed: a Poisson process, a burstier or a steadier one."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from traces.generation.checks import check_above_zero


@dataclass(frozen=True, slots=True)
class GammaArrivals:
    """Gaps drawn one like the other.

    Attributes:
        rate: mean arrivals a second.
        shape: of the gamma distribution: 1 is a Poisson process, below 1 comes in bursts, above 1 is more even. The
            coefficient of variation of the gaps is 1 / sqrt(shape).

    Raises:
        TraceError: a setting is not above 0.
    """

    rate: float
    shape: float = 1.0

    def __post_init__(self) -> None:
        check_above_zero("rate", self.rate)
        check_above_zero("the shape of gaps", self.shape)

    def draw_s(self, num: int, rng: np.random.Generator) -> npt.NDArray[np.float64]:
        """Return the first `num` arrivals in seconds from 0, ascending."""
        return np.cumsum(rng.gamma(self.shape, 1 / (self.rate * self.shape), num))
