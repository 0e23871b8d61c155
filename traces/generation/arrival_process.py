"""When the requests of a made trace arrive."""

from typing import Protocol

import numpy as np
import numpy.typing as npt


class ArrivalProcess(Protocol):
    """Draws arrivals."""

    @property
    def rate(self) -> float:
        """Mean arrivals a second over a long time."""

    def draw_s(self, num: int, rng: np.random.Generator) -> npt.NDArray[np.float64]:
        """Return the first `num` arrivals in seconds from 0, ascending."""
