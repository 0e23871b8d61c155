"""The serving loop: one engine, its backend and its clock."""

from collections.abc import Generator
from typing import Any

import simpy

from engine import Backend, BackendError, Batch, Ended, RequestError, Scheduler, StepResult
from sim.arrival_source import ArrivalSource
from sim.interrupt import Interrupt
from sim.pace import Pace
from sim.prompt_maker import PromptMaker
from sim.recorder import Recorder
from sim.step_clock import StepClock
from sim.step_record import StepRecord

Process = Generator[simpy.Event, Any, None]


class Replica:
    """Serves a trace until nothing is left to come and nothing is unfinished.

    The same loop runs at either pace and on either backend: they differ in the objects that come in here.
    """

    def __init__(
        self,
        pace: Pace,
        arrivals: ArrivalSource,
        prompts: PromptMaker,
        scheduler: Scheduler,
        backend: Backend,
        step_clock: StepClock,
        recorder: Recorder,
        interrupt: Interrupt,
    ) -> None:
        """Put the parts together."""
        self._pace = pace
        self._env = pace.environment
        self._arrivals = arrivals
        self._prompts = prompts
        self._scheduler = scheduler
        self._backend = backend
        self._step_clock = step_clock
        self._recorder = recorder
        self._interrupt = interrupt

    def serve(self) -> Process:
        """The SimPy process; it ends early, after a whole step, when an interrupt is requested."""
        while not self._interrupt.is_requested and self.has_work:
            if not self._scheduler.has_unfinished:
                yield from self._wait()
            self._interrupt.is_recording = True
            self._take_arrivals()
            self._interrupt.is_recording = False
            if self._scheduler.has_unfinished:
                yield from self._step()

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
        if next_s is not None and next_s <= now:
            self._recorder.note_lag(self._pace.lag_s())
        # A refused request ends here: the turn that it releases may be due at this instant too.
        for arrival in self._arrivals.due(now):
            self._recorder.arrive(arrival, now)
            try:
                self._scheduler.add(self._prompts.request(arrival.request))
            except RequestError as error:
                self._recorder.refuse(arrival, str(error), now)
                self._arrivals.release(arrival.request.request_id, now)

    def _step(self) -> Process:
        start_s = self._env.now
        batch = self._scheduler.schedule()
        num_used = self._scheduler.block_manager.num_used
        result, error, ended = None, "", batch.ended
        if len(batch):
            result, error = self._execute(batch)
            yield self._env.timeout(self._step_clock.lap(result) if result else 0.0)
        self._interrupt.is_recording = True
        if len(batch):
            ended += self._update(batch, result, error)
        counts = (self._scheduler.num_waiting, self._scheduler.num_running, num_used)
        self._recorder.step(StepRecord(batch, result, ended, start_s, self._env.now, *counts))
        for each in ended:
            self._arrivals.release(each.request_id, self._env.now)
        self._interrupt.is_recording = False

    def _update(self, batch: Batch, result: StepResult | None, error: str) -> tuple[Ended, ...]:
        if result is None:
            return self._scheduler.fail(batch, error)
        try:
            return self._scheduler.update(batch, result)
        except BackendError as wrong:  # the result does not belong to the batch
            return self._scheduler.fail(batch, str(wrong))

    def _execute(self, batch: Batch) -> tuple[StepResult | None, str]:
        try:
            return self._backend.execute(batch), ""
        except BackendError as error:
            return None, str(error)
