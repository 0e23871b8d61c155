"""Arrivals for a file that gives none."""

import numpy as np

from traces.errors import TraceError
from traces.read_settings import ReadSettings
from traces.time_quantum import MAX_TIME_S, NS_PER_SECOND

MICROSECONDS = 10**6


class DrawnArrivals:
    """One arrival after the other: a seeded Poisson process at the request rate, or all at 0 where none is given.

    Args:
        settings: rate and seed.
    """

    def __init__(self, settings: ReadSettings) -> None:
        self._settings = settings
        self._rng = np.random.default_rng(settings.seed)
        self._arrival_s = 0.0

    def next_ns(self) -> int:
        """Return the next arrival, whole microseconds in nanoseconds.

        Raises:
            TraceError: it lies beyond what a trace may span.
        """
        if self._settings.request_rate is None:
            return 0
        self._arrival_s += self._rng.exponential(1 / self._settings.request_rate)
        if self._arrival_s > MAX_TIME_S:
            raise TraceError(
                f"at a request rate of {self._settings.request_rate} a second the trace is longer than {MAX_TIME_S} s "
                "(48.5 days); give a higher rate or a limit"
            )
        return round(self._arrival_s * MICROSECONDS) * (NS_PER_SECOND // MICROSECONDS)

    def notice(self, noun: str) -> str:
        """Return a sentence about where the arrivals of these things are from."""
        if self._settings.request_rate is None:
            return f"The file gives no times: all {noun} arrive at 0; a request rate spreads them."
        rate = f"{self._settings.request_rate:g} a second"
        return f"The file gives no times: {noun} arrive as a Poisson process, {rate}, seed {self._settings.seed}."
