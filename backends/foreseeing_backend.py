"""A backend that can tell beforehand how long steps take."""

from typing import NamedTuple, Protocol

from backends.cost_model import FloatColumn
from engine.stretch import Stretch


class StretchTimes(NamedTuple):
    """Times of the steps of a stretch.

    Attributes:
        duration_s: of each step, host included, in seconds.
        device_s: time that the device is busy in each, in seconds.
        graph_size: rows of the captured graph that each of them runs in; None if they run eager.
    """

    duration_s: FloatColumn
    device_s: FloatColumn
    graph_size: int | None


class ForeseeingBackend(Protocol):
    """Gives for many steps what `Backend.execute` would give for each, to the last bit."""

    def foresee(self, stretch: Stretch) -> StretchTimes:
        """Times of all steps of the stretch; nothing is executed."""
        ...

    def sample(self, stretch: Stretch, num_steps: int) -> list[list[int]]:
        """Execute the first `num_steps` steps; returns for each row its tokens, one a step."""
        ...
