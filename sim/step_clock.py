"""How long a step lasts on the run's clock."""

import time
from collections.abc import Callable
from typing import Protocol

from engine import StepResult
from sim.time_quantum import quantise


class StepClock(Protocol):
    """Gives each step its duration, as a multiple of the time quantum."""

    def lap(self, result: StepResult) -> float:
        """Duration in seconds of the step that has just been executed."""
        ...

    def restart(self) -> None:
        """Begin to count here: what lies behind was an idle wait."""
        ...


class PredictedClock:
    """Takes the duration that the backend predicts."""

    def lap(self, result: StepResult) -> float:
        """The predicted duration, rounded once."""
        return quantise(result.duration_s)

    def restart(self) -> None:
        """Nothing: an idle wait takes no step's time."""


class MeasuredClock:
    """Takes the time since the last lap, so that scheduling, update and recording fall into the next step.

    Time runs to the right; the idle stretch counts for nobody:

        lap ----- update, schedule, execute ----- lap ..... idle ..... restart ----- schedule, execute ----- lap
    """

    def __init__(self, now: Callable[[], float] = time.perf_counter) -> None:
        """Begin to count here; `now` gives seconds."""
        self._now = now
        self._origin = self._last = now()

    def lap(self, _: StepResult) -> float:
        """Time since the last lap or restart. Laps are differences of rounded times: no fraction is lost over many."""
        before, self._last = self._last, self._now()
        return quantise(self._last - self._origin) - quantise(before - self._origin)

    def restart(self) -> None:
        """Leave out what lies behind."""
        self._last = self._now()
