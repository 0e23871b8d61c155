"""Steps that are executed one by one."""

from collections import deque

from engine import Backend, BackendEndedError, BackendError, Batch, Ended, StepResult
from sim.serving import Serving
from sim.spare_time import NoSpareTime, SpareTime
from sim.step_clock import StepClock
from sim.step_record import StepRecord
from sim.stepper import Process


class OneByOne:
    """Works for every backend, policy and pace.

    Args:
        serving: what the loop shares.
        backend: executes.
        step_clock: how long steps last.
        spare_time: when steps are written down.
    """

    def __init__(
        self, serving: Serving, backend: Backend, step_clock: StepClock, spare_time: SpareTime | None = None
    ) -> None:
        self._env, self._arrivals, self._scheduler, self._recorder, self._interrupt = serving
        self._backend = backend
        self._step_clock = step_clock
        self._spare_time = spare_time or NoSpareTime()
        self._unwritten: deque[StepRecord] = deque()

    def advance(self) -> Process:
        """Take one step; see `Stepper.advance`.

        Raises:
            BackendEndedError: so did the backend; the step has been written down.
        """
        start_s = self._env.now
        batch = self._scheduler.schedule()
        num_used = self._scheduler.block_manager.num_used
        result, error, ended = None, None, batch.ended
        if len(batch):
            result, error = self._execute(batch)
            yield self._env.timeout(self._step_clock.lap(result) if result else 0.0)
        self._interrupt.is_recording = True
        if len(batch):
            ended += self._update(batch, result, error)
        counts = (self._scheduler.num_waiting, self._scheduler.num_running, num_used)
        record = StepRecord(batch, result, ended, start_s, self._env.now, *counts)
        self._unwritten.append(record)
        self._spare_time.put(self._note)
        for each in ended:
            self._arrivals.release(each.request_id, self._env.now)
        if result is None or not self._scheduler.has_unfinished:  # no other step may follow
            self._spare_time.use()
        self._interrupt.is_recording = False
        if isinstance(error, BackendEndedError):
            raise error

    def _note(self) -> None:
        """Write the next step down as a whole, whenever that is; a call after it has been written does nothing."""
        was_recording, self._interrupt.is_recording = self._interrupt.is_recording, True
        if self._unwritten:
            self._recorder.step(self._unwritten.popleft())
        self._interrupt.is_recording = was_recording

    def _update(self, batch: Batch, result: StepResult | None, error: BackendError | None) -> tuple[Ended, ...]:
        if result is None:
            return self._scheduler.fail(batch, str(error))
        try:
            return self._scheduler.update(batch, result)
        except BackendError as wrong:  # the result does not belong to the batch
            return self._scheduler.fail(batch, str(wrong))

    def _execute(self, batch: Batch) -> tuple[StepResult | None, BackendError | None]:
        try:
            return self._backend.execute(batch), None
        except BackendError as error:
            return None, error
