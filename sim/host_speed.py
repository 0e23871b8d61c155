"""How quick the host is while a run is under way."""

import time
from collections.abc import Callable

REFERENCE_PROBE_US = 10.0
"""Host times of calibrations are those of a host that takes so long for a probe, if the data say how quick it was."""
_NUM_ROUNDS = 300


class HostSpeed:
    """Times a fixed piece of Python again and again.

    A host that others share can be nearly twice as slow for seconds on end, and all that it does between two steps with
    it. Which it was in a run is part of what the run measured, and tells two runs of one trace apart.
    """

    def __init__(self, now: Callable[[], float] = time.perf_counter) -> None:
        """Start without a measurement; `now` gives seconds."""
        self._now = now
        self.restart()

    def restart(self) -> None:
        """Forget what was measured."""
        self._total_s, self._num_probes = 0.0, 0

    def probe(self) -> None:
        """Measure once; takes about ten microseconds."""
        started, total = self._now(), 0
        for number in range(_NUM_ROUNDS):
            total += number
        self._total_s += self._now() - started
        self._num_probes += 1

    @property
    def probe_us(self) -> float | None:
        """Mean time of a probe in microseconds, smaller on a quicker host; None without one."""
        return 1e6 * self._total_s / self._num_probes if self._num_probes else None
