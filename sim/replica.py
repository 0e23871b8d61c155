"""The serving loop: one engine, its backend and its clock."""

from engine import RequestError
from sim.pace import Pace
from sim.prompt_maker import PromptMaker
from sim.serving import Serving
from sim.step_clock import StepClock
from sim.stepper import Process, Stepper


class Replica:
    """Serves a trace until nothing is left to come and nothing is unfinished.

    The same loop runs at either pace and on either backend: they differ in the objects that come in here.
    """

    def __init__(
        self,
        serving: Serving,
        pace: Pace,
        prompts: PromptMaker,
        stepper: Stepper,
        step_clock: StepClock,
    ) -> None:
        """Put the parts together."""
        self._env, self._arrivals, self._scheduler, self._recorder, self._interrupt = serving
        self._pace = pace
        self._prompts = prompts
        self._stepper = stepper
        self._step_clock = step_clock

    def serve(self) -> Process:
        """The SimPy process; it ends early, after a whole step, when an interrupt is requested."""
        while not self._interrupt.is_requested and self.has_work:
            if not self._scheduler.has_unfinished:
                yield from self._wait()
            self._interrupt.is_recording = True
            self._take_arrivals()
            self._interrupt.is_recording = False
            if self._scheduler.has_unfinished:
                yield from self._stepper.advance()

    @property
    def has_work(self) -> bool:
        """Whether anything is unfinished or still to come."""
        return self._scheduler.has_unfinished or self._arrivals.next_s is not None

    def _wait(self) -> Process:
        next_s = self._arrivals.next_s
        if next_s is not None and next_s > self._env.now:
            self._interrupt.is_idle = True
            yield self._env.timeout(next_s - self._env.now)
            self._interrupt.is_idle = False
            self._step_clock.restart()

    def _take_arrivals(self) -> None:
        now = self._env.now
        next_s = self._arrivals.next_s
        if next_s is None or next_s > now:
            return
        self._recorder.note_lag(self._pace.lag_s())
        # A refused request ends here: the turn that it releases may be due at this instant too.
        for arrival in self._arrivals.due(now):
            self._recorder.arrive(arrival, now)
            try:
                self._scheduler.add(self._prompts.request(arrival.request))
            except RequestError as error:
                self._recorder.refuse(arrival, str(error), now)
                self._arrivals.release(arrival.request.request_id, now)
