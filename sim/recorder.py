"""Turns steps into the rows of a run directory."""

from collections.abc import Callable, Iterator, Sequence
from itertools import compress
from typing import Any, Protocol

from analysis.rows import EventKind, EventRow, RequestRow, StepRow
from engine import Batch, Ended
from sim.arrivals import Arrival
from sim.decision_digest import DecisionDigest
from sim.emission_runs import EmissionRuns
from sim.request_record import RequestRecord, absent_row
from sim.step_record import StepRecord
from sim.stretch_record import StretchRecord
from sim.time_quantum import quantise
from traces import TraceRequest

STEPS_PER_WRITE = 100


class Rows(Protocol):
    """Takes rows of the three tables; `analysis.run_writer.RunWriter` is one."""

    def add_step_columns(self, columns: Sequence[Sequence[Any]]) -> None:
        """Rows of the steps table, as columns in the order of `StepRow`."""
        ...

    def add_events(self, rows: Sequence[EventRow]) -> None:
        """Rows of the events table."""
        ...

    def add_requests(self, rows: Sequence[RequestRow]) -> None:
        """Rows of the requests table."""
        ...


OnProgress = Callable[[int, float], None]
OnEnded = Callable[[Ended], None]


class Recorder:
    """Follows every request from arrival to end and writes what happened.

    A step in which the same requests decode as in the one before touches no request: only its own row is kept.
    """

    def __init__(
        self,
        rows: Rows,
        block_size: int,
        digest: DecisionDigest,
        on_progress: OnProgress,
        on_ended: OnEnded = lambda _: None,
        steps_per_write: int = STEPS_PER_WRITE,
    ) -> None:
        """Start with nothing.

        Args:
            rows: where the rows go.
            block_size: tokens in a block of the engine.
            digest: takes every decision.
            on_progress: called with (requests ended, clock) whenever rows are handed on.
            on_ended: called with the end of each request that was admitted.
            steps_per_write: steps after which rows are handed on; 1 lets `rows` see each step before the next begins.
        """
        self._rows = rows
        self._block_size = block_size
        self._digest = digest
        self._on_progress = on_progress
        self._on_ended = on_ended
        self._steps_per_write = steps_per_write
        self._live: dict[str, RequestRecord] = {}
        self._runs = EmissionRuns(self._live)
        self._num_ended = 0
        self._now_s = 0.0
        self._steps: list[list[Any]] = [[] for _ in StepRow._fields]
        self._events: list[EventRow] = []
        self._requests: list[RequestRow] = []
        self.lags_s: list[float] = []
        """How far the clock was behind the wall at each instant at which requests were taken, in seconds."""

    def note_lag(self, lag_s: float) -> None:
        """Note how far the clock is behind the wall."""
        self.lags_s.append(lag_s)

    def arrive(self, arrival: Arrival, now_s: float) -> None:
        """Note that a request is handed to the scheduler."""
        self._live[arrival.request.request_id] = RequestRecord(arrival, now_s)

    def refuse(self, arrival: Arrival, reason: str, now_s: float) -> None:
        """Note that the scheduler did not take it."""
        self._requests.append(self._live.pop(arrival.request.request_id).refused_row(reason, now_s))
        self._num_ended += 1

    def step(self, record: StepRecord) -> None:
        """Note one step."""
        batch = record.batch
        is_plain = not (batch.new_blocks or batch.admitted or batch.preempted)
        # Most steps go on decoding as before and have no events.
        is_quiet = is_plain and self._runs.are_going_on(batch.request_ids)
        events = [] if is_quiet else [*self._decisions(batch, record.start_s)]
        self._runs.advance(record.batch.step, _sampled(record), record.end_s)
        if record.ended:
            events += self._ends(batch.step, record.ended, record.end_s)
        self._digest.add(record.batch, events)
        self._events += events
        for column, value in zip(self._steps, _step_row(record), strict=True):
            column.append(value)
        self._move_on(record.end_s)

    def stretch(self, record: StretchRecord) -> None:
        """Note many steps, as `step` would one by one."""
        stretch, first_end_s, end_s = record.stretch, record.end_s[0], record.end_s[-1]
        self._runs.advance(stretch.first_step, stretch.request_ids, first_end_s)
        self._runs.advance(record.last_step, stretch.request_ids, end_s)
        events = record.growth_events()
        if record.outcome.ended:
            events += self._ends(record.last_step, record.outcome.ended, end_s)
        self._digest.add_many(stretch, record.num_steps, events)
        self._events += events
        for column, values in zip(self._steps, record.step_columns(), strict=True):
            column.extend(values)
        self._move_on(end_s)

    def _move_on(self, now_s: float) -> None:
        self._now_s = now_s
        if len(self._steps[0]) >= self._steps_per_write:
            self.flush()

    def flush(self) -> None:
        """Hand on all rows; a request's row never comes before the steps that gave it tokens."""
        self._rows.add_events(self._events)
        self._rows.add_requests(self._requests)
        self._rows.add_step_columns(self._steps)
        self._events, self._requests, self._steps = [], [], [[] for _ in StepRow._fields]
        self._on_progress(self._num_ended, self._now_s)

    def finish(self, left: Sequence[tuple[int, TraceRequest]]) -> None:
        """Close the record of a run that has ended or was stopped.

        Args:
            left: what has not come: place in the trace and request.
        """
        self._runs.close_all()
        self._requests += [record.row(None, None) for record in self._live.values()]
        self._requests += [absent_row(position, request) for position, request in left]
        self.flush()

    def _ends(self, step: int, ended: Sequence[Ended], end_s: float) -> list[EventRow]:
        self._runs.close([each.request_id for each in ended])
        self._requests += [self._live.pop(each.request_id).row(each, end_s) for each in ended]
        self._num_ended += len(ended)
        for each in ended:
            self._on_ended(each)
        return [EventRow(step, each.request_id, each.status, reason=each.reason) for each in ended]

    def _decisions(self, batch: Batch, start_s: float) -> Iterator[EventRow]:
        step = batch.step
        self._runs.close(batch.preempted)
        for request_id in batch.preempted:
            self._live[request_id].preempt(start_s)
            yield EventRow(step, request_id, "preempted")
        for admission in batch.admitted:
            self._live[admission.request_id].admit(admission, start_s)
            kind: EventKind = "resumed" if admission.is_resumed else "admitted"
            yield EventRow(step, admission.request_id, kind, admission.num_hit_tokens)
        if not self._runs.are_going_on(batch.request_ids):
            yield from self._chunks(batch)
        for admission in batch.admitted:
            new_ids = admission.block_table[admission.num_hit_tokens // self._block_size :]
            yield EventRow(step, admission.request_id, "blocks", block_ids=new_ids)
        for request_id, block_ids in batch.new_blocks:
            yield EventRow(step, request_id, "blocks", block_ids=block_ids)

    def _chunks(self, batch: Batch) -> Iterator[EventRow]:
        for request_id, num_tokens in zip(batch.request_ids, batch.num_tokens, strict=True):
            if num_tokens > 1 or (request_id not in self._runs and self._live[request_id].is_prefilling):
                self._live[request_id].prefill(num_tokens)
                yield EventRow(batch.step, request_id, "chunk", num_tokens)


def _sampled(record: StepRecord) -> tuple[str, ...]:
    """Requests that got a token: sampling rows that did not fail."""
    batch = record.batch
    if record.result is None:
        return ()
    sampled = batch.request_ids
    if batch.shape.num_sampled == len(sampled) and not record.ended:
        return sampled
    if batch.shape.num_sampled < len(batch):
        sampled = tuple(compress(batch.request_ids, batch.samples))
    lost = {ended.request_id for ended in record.ended if ended.status != "finished"}
    return tuple([request_id for request_id in sampled if request_id not in lost]) if lost else sampled


def _step_row(record: StepRecord) -> StepRow:
    result = record.result
    duration_s = record.end_s - record.start_s
    # A device cannot be busy for longer than the step lasts; rounding to the time quantum could make it seem so.
    device_s = min(quantise(result.device_s), duration_s) if result else 0.0
    times = (record.start_s, duration_s, duration_s - device_s, device_s, result.graph_size if result else None)
    return StepRow(
        record.batch.step,
        *times,
        *record.batch.shape,
        record.num_waiting,
        record.num_running,
        record.num_used_blocks,
    )
