"""Lengths that are lognormally distributed, as those of conversations are about."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from traces.errors import TraceError
from traces.generation.checks import check_above_zero, check_count, check_from_zero
from traces.generation.drawn_lengths import DrawnLengths

MAX_SIGMA = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class LognormalLength:
    """Lengths in tokens, rounded and clipped; how many were clipped is told.

    Attributes:
        mean: before clipping.
        sigma: standard deviation of their logarithm; 0 makes all alike.
        shortest: shorter ones are lengthened to this.
        longest: longer ones are cut to this.

    Raises:
        TraceError: a setting is not in its range.
    """

    mean: float
    sigma: float
    shortest: int = 1
    longest: int

    def __post_init__(self) -> None:
        check_above_zero("mean", self.mean)
        check_from_zero("sigma", self.sigma, MAX_SIGMA)
        check_count("min", self.shortest)
        check_count("max", self.longest)
        if self.shortest > self.longest:
            raise TraceError(f"min is {self.shortest}, but it must not be above max, {self.longest}")

    def draw(self, num: int, noun: str, rng: np.random.Generator) -> DrawnLengths:
        """Return `num` lengths; `noun` says what they are lengths of, for notices."""
        # The mean of a lognormal is exp(mu + sigma^2 / 2).
        lengths = np.rint(rng.lognormal(math.log(self.mean) - self.sigma**2 / 2, self.sigma, num))
        clipped = [int(length) for length in np.clip(lengths, self.shortest, self.longest)]
        return DrawnLengths(clipped, self._notice(noun, lengths))

    def _notice(self, noun: str, lengths: npt.NDArray[np.float64]) -> tuple[str, ...]:
        num_short, num_long = int(np.sum(lengths < self.shortest)), int(np.sum(lengths > self.longest))
        if not num_short + num_long:
            return ()
        return (f"{num_short} {noun} were lengthened to {self.shortest} tokens, {num_long} cut to {self.longest}.",)
