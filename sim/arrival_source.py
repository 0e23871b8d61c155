"""Where the serving loop takes its requests from."""

from collections.abc import Iterator
from typing import Protocol

from sim.arrivals import Arrival


class ArrivalSource(Protocol):
    """Gives requests when they are due; `sim.arrivals.Arrivals` is one, of a trace."""

    @property
    def next_s(self) -> float | None:
        """Time of the next arrival that is known; None if there is none."""
        ...

    def due(self, now_s: float) -> Iterator[Arrival]:
        """Remove and yield what has come by `now_s`."""
        ...

    def release(self, request_id: str, ended_s: float) -> None:
        """Take note that `request_id` has ended."""
        ...
