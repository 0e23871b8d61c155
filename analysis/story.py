"""What happened to one request, in order of time, and what it waited for."""

import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from analysis.admission import AdmissionLimits, Hold
from analysis.arrow_values import text_scalar
from analysis.errors import RunError
from analysis.flag_names import with_flags
from analysis.queue_view import QueueView, names
from analysis.run import Run
from analysis.run_columns import RunColumns
from analysis.schema import EVENTS

WIDTH = 80
_MAX_SIZES = 6
_LATENCIES = ("queue", "prefill", "decode", "preempted", "ttft", "e2e")

Event = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Chapter:
    """One thing that happened.

    Attributes:
        time_s: when it began, in seconds after arrival.
        kind: arrived, queued, first token, decoded, unfinished, or a kind of event.
        text: what happened, for a person.
        step: in which step it began; None if outside of steps.
    """

    time_s: float
    kind: str
    text: str
    step: int | None = None


@dataclass(frozen=True, slots=True)
class Story:
    """The story of one request. Made by `tell`.

    Attributes:
        request: its row of `requests`.
        latencies_s: its latencies in seconds, None where undefined.
        behind: requests that waited when it arrived, in trace order.
        chapters: what happened, in order of time.
    """

    request: dict[str, Any]
    latencies_s: dict[str, float | None]
    behind: tuple[str, ...]
    chapters: tuple[Chapter, ...]

    def as_dict(self) -> dict[str, Any]:
        """Returns all values for JSON."""
        return asdict(self)

    def render(self) -> str:
        """Returns lines of text without colour codes."""
        row = self.request
        lines = textwrap.wrap(
            f"Request {row['request_id']} (line {row['line']} of the trace): {row['input_tokens']} prompt tokens, "
            f"{row['output_tokens']} of {row['requested_output_tokens']} output tokens, {row['status']}",
            WIDTH,
        )
        known = [(name, self.latencies_s[name]) for name in _LATENCIES]
        parts = [f"{name} {_ms(value_s)}" for name, value_s in known if value_s is not None]
        lines += textwrap.wrap(", ".join(parts), WIDTH)
        for chapter in self.chapters:
            first = f"{_ms(chapter.time_s):>15}  "
            lines += textwrap.wrap(chapter.text, WIDTH, initial_indent=first, subsequent_indent=" " * len(first))
        return "\n".join(lines) + "\n"


def tell(run: Run, request_id: str) -> Story:
    """Tells what happened to one request.

    Raises:
        RunError: the run has no record of it, a table is damaged, or a client recorded the run from outside.
    """
    if run.observation.by_client:
        raise RunError(f"{run.path} was recorded by a client, which cannot see what a request waits for in the engine.")
    columns = RunColumns.of(run)
    row = _row(columns, request_id, run)
    request = run.table("requests").sort_by("index").slice(row, 1).to_pylist()[0]
    latencies = {name: float(values[row]) for name, values in columns.latencies().items()}
    view = QueueView(columns)
    return Story(
        request=request,
        latencies_s={name: None if np.isnan(value) else value for name, value in latencies.items()},
        behind=tuple(view.names(view.waiting_at_arrival(row))) if columns.requests.is_injected[row] else (),
        chapters=_Teller(run, columns, view, row, request).chapters(),
    )


def _row(columns: RunColumns, request_id: str, run: Run) -> int:
    ids = columns.requests.request_id
    # What a command line gives may not be UTF-8, and then is no request's id.
    is_text = request_id.encode(errors="ignore").decode() == request_id
    row = int(pc.index(ids, text_scalar(request_id)).as_py()) if is_text else -1
    if row >= 0:
        return row
    known = f"it has {len(ids)}" + (
        f", such as {names([ids[k].as_py() for k in range(min(3, len(ids)))], 3)}" if len(ids) else ""
    )
    partial = "" if run.is_complete else " The run is partial: requests that had not ended may have no record."
    raise RunError(f"{run.path} has no record of request {request_id!r}; {known}.{partial}")


class _Teller:
    """Writes the chapters of one request."""

    def __init__(self, run: Run, columns: RunColumns, view: QueueView, row: int, request: dict[str, Any]) -> None:
        self._columns = columns
        self._steps = columns.steps
        self._view = view
        self._row = row
        self._request = request
        self._arrival_s = request["arrival_s"]
        self._holds = AdmissionLimits.of(run.meta).holds(columns)
        self._events = _events_of(run, request["request_id"])

    def chapters(self) -> tuple[Chapter, ...]:
        if self._arrival_s is None:
            return (Chapter(0.0, "unfinished", "never arrived: the run ended before its turn came"),)
        tellers: list[Callable[[], Iterator[Chapter]]] = [self._arrival, self._queue, self._tokens, self._scheduling]
        chapters = [chapter for teller in tellers for chapter in teller()]
        return (*sorted(chapters, key=lambda chapter: chapter.time_s), self._end())

    def _arrival(self) -> Iterator[Chapter]:
        running, waiting = self._view.running_at_arrival(self._row), self._view.waiting_at_arrival(self._row)
        text = f"arrived at {_ms(self._arrival_s)}: {len(running)} running, {len(waiting)} waiting"
        yield Chapter(0.0, "arrived", text)

    def _queue(self) -> Iterator[Chapter]:
        first, last = self._view.steps_waited(self._row)
        waited_s = self._view.waited_s(self._row)
        if waited_s <= 0:
            return
        ahead = self._view.names(self._view.waiting_at_arrival(self._row))
        behind = f", behind {names(ahead)}" if ahead else ""
        why = _held(self._holds[first:last]) if last > first else "the step under way had to end"
        yield Chapter(0.0, "queued", f"waits {_ms(waited_s)}{behind}: {why}")

    def _scheduling(self) -> Iterator[Chapter]:
        chunks: list[Event] = []
        for event in self._events:
            if event["kind"] == "chunk":
                chunks.append(event)
            elif event["kind"] in {"admitted", "resumed", "preempted"}:
                yield from self._chunks(chunks)
                chunks = []
                yield self._chapter(event, _TEXTS[event["kind"]].format(**event))
        yield from self._chunks(chunks)

    def _chunks(self, chunks: Sequence[Event]) -> Iterator[Chapter]:
        if not chunks:
            return
        sizes = [event["num_tokens"] for event in chunks]
        first, last = chunks[0]["step"], chunks[-1]["step"]
        where = f"step {first}" if first == last else f"steps {first} to {last}"
        how = f" in {len(sizes)} chunks ({_sizes(sizes)})" if len(sizes) > 1 else ""
        yield self._chapter(chunks[0], f"computes {sum(sizes)} prompt tokens{how}, {where}")

    def _chapter(self, event: Event, text: str) -> Chapter:
        start_s = float(self._steps.start_s[event["step"] - self._steps.first_step])
        return Chapter(start_s - self._arrival_s, event["kind"], text, event["step"])

    def _tokens(self) -> Iterator[Chapter]:
        own = self._columns.emissions.of_requests(np.arange(len(self._columns.requests)) == self._row)
        if not len(own.first):
            return
        position = int(own.first[0])
        step = position + self._steps.first_step
        time_s = float(self._steps.end_s[position]) - self._arrival_s
        yield Chapter(time_s, "first token", f"first token, at the end of step {step}", step)
        gaps = own.gaps_s(self._steps)
        if gaps.size:
            longest_s, mean_s = float(gaps.values[-1]), gaps.mean()
            assert mean_s is not None, "there are gaps"
            text = f"decodes {gaps.size} further tokens, {_ms(mean_s)} apart on average, {_ms(longest_s)} at most"
            yield Chapter(time_s, "decoded", text, step + 1)

    def _end(self) -> Chapter:
        request = self._request
        if request["finish_s"] is None:
            end_s = float(self._steps.end_s[-1]) if len(self._steps) else self._arrival_s
            return Chapter(end_s - self._arrival_s, "unfinished", "had not ended when the run did")
        num_blocks = sum(len(event["block_ids"] or ()) for event in self._events if event["kind"] == "blocks")
        reason = f": {request['reason'].removesuffix('.')}" if request["reason"] else ""
        blocks = f"; {num_blocks} KV blocks had been handed out to it" if num_blocks else ""
        return Chapter(
            request["finish_s"] - self._arrival_s, request["status"], with_flags(f"{request['status']}{reason}{blocks}")
        )


_TEXTS = {
    "admitted": "admitted in step {step}, {num_tokens} prompt tokens hit the prefix cache",
    "resumed": "resumed in step {step}, {num_tokens} tokens hit the prefix cache",
    "preempted": "preempted in step {step}: KV blocks ran out",
}


def _events_of(run: Run, request_id: str) -> list[Event]:
    wanted = text_scalar(request_id)
    pieces = run.scan("events", EVENTS.names)
    return [event for p in pieces for event in p.filter(pc.equal(p.column("request_id"), wanted)).to_pylist()]


def _ms(time_s: float) -> str:
    return f"{1000 * time_s:,.2f} ms"


def _sizes(sizes: Sequence[int]) -> str:
    return ", ".join(map(str, sizes)) if len(sizes) <= _MAX_SIZES else f"of {min(sizes)} to {max(sizes)} tokens"


def _held(holds: NDArray[np.int8]) -> str:
    counts = np.bincount(holds, minlength=len(Hold))
    kinds = sorted((hold for hold in Hold if hold and counts[hold]), key=lambda hold: -counts[hold])
    reasons = [f"{hold.label} in {counts[hold]} of {len(holds)} steps" for hold in kinds]
    return f"held by {', '.join(reasons)}" if reasons else "no limit held the queue"
