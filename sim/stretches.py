"""Steps that are taken many at a time where it is certain what they do."""

import numpy as np

from backends.foreseeing_backend import ForeseeingBackend
from sim.one_by_one import OneByOne
from sim.serving import Serving
from sim.stepper import Process
from sim.stretch_record import StretchRecord
from sim.time_quantum import quantise_column

# An interrupt waits for the end of a stretch; beyond this, longer ones save hardly any time.
_MAX_STEPS = 128


class Stretches:
    """Gives exactly what `OneByOne` gives, for a backend whose predicted times are the steps' durations."""

    def __init__(self, serving: Serving, backend: ForeseeingBackend, one_by_one: OneByOne) -> None:
        """Put the parts together; `one_by_one` takes the steps of which something is to be found out."""
        self._env, self._arrivals, self._scheduler, self._recorder, self._interrupt = serving
        self._backend = backend
        self._one_by_one = one_by_one
        self._last_s = 0.0

    def advance(self) -> Process:
        """Take steps until the next arrival is due, a request ends or something is to be decided.

        An arrival during a step is taken at its end, so that step is the last:

            start |--- step ---|--- step ---|--- step ---|
                                      ^ next arrival     the third step is the first that the arrival could be in
        """
        stretch = self._scheduler.look_ahead(self._max_steps())
        if stretch is None:
            yield from self._one_by_one.advance()
            return
        start_s, next_s = self._env.now, self._arrivals.next_s
        times = self._backend.foresee(stretch)
        times = times._replace(duration_s=quantise_column(times.duration_s))
        ends = start_s + np.cumsum(times.duration_s)
        if next_s is not None:
            ends = ends[: np.searchsorted(ends, next_s) + 1]
        end_s: list[float] = ends.tolist()
        self._last_s = float(times.duration_s[len(end_s) - 1])
        yield self._env.timeout(end_s[-1] - start_s)
        self._interrupt.is_recording = True
        outcome = self._scheduler.take(stretch, self._backend.sample(stretch, len(end_s)))
        starts_s, num_waiting = [start_s, *end_s[:-1]], self._scheduler.num_waiting
        self._recorder.stretch(StretchRecord(stretch, outcome, times, starts_s, end_s, num_waiting))
        for each in outcome.ended:
            self._arrivals.release(each.request_id, end_s[-1])
        self._interrupt.is_recording = False

    def _max_steps(self) -> int:
        """Steps that are worth looking at: about as many as end before the next arrival, if they last like the last."""
        next_s = self._arrivals.next_s
        if next_s is None or not self._last_s:
            return _MAX_STEPS
        return min(_MAX_STEPS, 2 + int((next_s - self._env.now) / self._last_s))
