"""Compares the rows of a replay with those of the run that it repeats, step by step."""

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from analysis.rows import EventRow, RequestRow, StepRow
from analysis.run import Run
from analysis.schema import SCHEMAS
from sim.difference import Difference, StepSide, step_difference

_ROWS_AT_A_TIME = 1000


class Stop(Protocol):
    """Ends the replay after the step that is being recorded; `sim.interrupt.Interrupt` is one."""

    is_requested: bool


class RowCheck:
    """Takes the rows of a replay, one step at a time, and stops it at the first step that differs.

    Attributes:
        num_steps: steps compared.
        num_preemptions: preemptions in them.
        num_hit_tokens: prompt tokens hit in them at first admissions.
        requests: rows of requests so far, in the order of their ends.
        difference: the first one between steps; None if there is none.
        has_lost_events: whether the run has no events for its last steps, because it was killed while it wrote.
    """

    def __init__(self, run: Run, num_steps: int, stop: Stop) -> None:
        """Compare with `run`, which has `num_steps` steps; a partial one is followed no further than it got."""
        self.num_steps = 0
        self.num_preemptions = 0
        self.num_hit_tokens = 0
        self.requests: list[RequestRow] = []
        self.difference: Difference | None = None
        self.has_lost_events = False
        self._stop = stop
        self._is_partial = not run.is_complete
        self._is_killed = self._is_partial and run.summary is None
        self._steps = (StepRow(*row) for row in recorded_rows(run, "steps"))
        self._events = (_event(row) for row in recorded_rows(run, "events"))
        self._next_event = next(self._events, None)
        self._new_events: list[EventRow] = []
        self._num_recorded = num_steps
        self._stop_if_all_seen()

    def add_events(self, rows: Sequence[EventRow]) -> None:
        """Take the events of the next step."""
        self._new_events += rows

    def add_requests(self, rows: Sequence[RequestRow]) -> None:
        """Take rows of requests."""
        self.requests += rows

    def add_step_columns(self, columns: Sequence[Sequence[Any]]) -> None:
        """Take steps given as columns; see `add_steps`."""
        self.add_steps(list(map(StepRow._make, zip(*columns, strict=True))))

    def add_steps(self, rows: Sequence[StepRow]) -> None:
        """Take the next step, whose events have come; none at the end of the replay."""
        assert len(rows) < 2, "each step comes alone"
        for row in rows:
            events = tuple(event._replace(block_ids=_ids(event)) for event in self._new_events)
            self._new_events = []
            if self.difference is None:
                self._compare(StepSide(row, events))

    def finish(self) -> None:
        """Look whether the run has steps or events that the replay has not."""
        if self.difference is None:
            self.difference = step_difference(self.num_steps, self._recorded(self.num_steps), StepSide(None, ()))

    def _compare(self, here: StepSide) -> None:
        recorded = self._recorded(self.num_steps)
        if self._is_killed and not recorded.events and self._next_event is None and here.events:
            self.has_lost_events = True
            here = here._replace(events=())
        self.difference = step_difference(self.num_steps, recorded, here)
        if self.difference is not None:
            self._stop.is_requested = True
            return
        self.num_steps += 1
        self.num_preemptions += sum(event.kind == "preempted" for event in here.events)
        self.num_hit_tokens += sum(event.num_tokens or 0 for event in here.events if event.kind == "admitted")
        self._stop_if_all_seen()

    def _stop_if_all_seen(self) -> None:
        if self._is_partial and self.num_steps == self._num_recorded:
            self._stop.is_requested = True

    def _recorded(self, step: int) -> StepSide:
        row = next(self._steps, None)
        if row is None:
            return StepSide(None, tuple(self._events_upto(None)))
        return StepSide(row, tuple(self._events_upto(step)))

    def _events_upto(self, step: int | None) -> Iterator[EventRow]:
        """Events of a step, strays of earlier ones included; all that are left if None."""
        while (event := self._next_event) is not None and (step is None or event.step <= step):
            self._next_event = next(self._events, None)
            yield event


def recorded_rows(run: Run, name: str) -> Iterator[tuple[Any, ...]]:
    """Rows of a table as tuples in the order of its schema, a few of them in memory at a time."""
    for piece in run.scan(name, SCHEMAS[name].names):
        for start in range(0, len(piece), _ROWS_AT_A_TIME):
            columns = [column.to_pylist() for column in piece.slice(start, _ROWS_AT_A_TIME).columns]
            yield from zip(*columns, strict=True)


def _event(row: tuple[Any, ...]) -> EventRow:
    event = EventRow(*row)
    return event._replace(block_ids=_ids(event))


def _ids(event: EventRow) -> tuple[int, ...] | None:
    return None if event.block_ids is None else tuple(event.block_ids)
