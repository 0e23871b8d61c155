"""The requests of a run in a timeline: a track each."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from analysis.chunks import Chunks
from analysis.phases import Phase, Phases, ends_s
from analysis.run import Run
from analysis.run_columns import RunColumns
from analysis.step_columns import Bools
from analysis.timeline_file import TimelineFile, Track, microseconds, nanoseconds

_ROWS_AT_A_TIME = 1024

Row = dict[str, Any]


class RequestTracks:
    """Draws the requests of one run: a slice from arrival to end with all that is known, and its phases in it.

    Args:
        file: takes the events.
        first: the track of the first request of the trace; the others follow.
        run: whose requests.
        columns: the same requests as columns.
    """

    NAMES = (
        *("index", "request_id", "session_id", "line", "priority", "status", "reason", "input_tokens"),
        *("requested_output_tokens", "output_tokens", "hit_tokens", "reprefill_tokens", "num_preemptions"),
    )
    """Columns of `requests` that are read."""

    def __init__(self, file: TimelineFile, first: Track, run: Run, columns: RunColumns) -> None:
        self._file = file
        self._first = first
        self._run = run
        self._columns = columns
        self.ends_s = ends_s(columns)
        self._phases = Phases.of(columns)
        self._chunks = Chunks.of(run.scan("events", Chunks.NAMES), columns.requests, columns.steps)
        self._latencies = columns.latencies()
        everyone = np.arange(len(columns.requests) + 1)
        self._first_phases = np.searchsorted(self._phases.owner, everyone)
        self._first_chunks = np.searchsorted(self._chunks.owner, everyone)

    def draw(self, is_shown: Bools) -> None:
        """Writes those requests of which it is said, one entry a request; each must have arrived."""
        table = self._run.table("requests", self.NAMES).sort_by("index")
        for first in range(0, len(table), _ROWS_AT_A_TIME):
            for place, row in enumerate(table.slice(first, _ROWS_AT_A_TIME).to_pylist(), first):
                if is_shown[place]:
                    self._draw_request(place, row)

    def _draw_request(self, place: int, row: Row) -> None:
        track = Track(self._first.pid, self._first.tid + row["index"])
        self._file.describe("thread_name", *track, {"name": row["request_id"]})
        self._file.describe("thread_sort_index", *track, {"sort_index": track.tid})
        start_s, end_s = self._columns.requests.arrival_s[place], self.ends_s[place]
        args = {name: value for name, value in row.items() if value is not None} | dict(self._latencies_of(place))
        start_ns = nanoseconds(float(start_s))
        self._file.slice(track, row["request_id"], "request", start_ns, nanoseconds(float(end_s)), args)
        for number in range(self._first_phases[place], self._first_phases[place + 1]):
            self._draw_phase(track, place, number)

    def _latencies_of(self, place: int) -> Iterator[tuple[str, float]]:
        for name, values in self._latencies.items():
            if not np.isnan(values[place]):
                yield f"{name}_s", float(values[place])

    def _draw_phase(self, track: Track, place: int, number: int) -> None:
        phase = Phase(int(self._phases.phase[number]))
        start_s, end_s = float(self._phases.start_s[number]), float(self._phases.end_s[number])
        # A client does not see when a request leaves the queue.
        name = "until first token" if phase is Phase.QUEUE and self._run.observation.by_client else phase.name.lower()
        chunks = list(self._chunks_of(place, start_s, end_s))
        args = {"chunks": chunks} if chunks else {}
        self._file.slice(track, name, "phase", nanoseconds(start_s), nanoseconds(end_s), args)

    def _chunks_of(self, place: int, start_s: float, end_s: float) -> Iterator[Row]:
        """Prompt tokens computed in steps that started within a phase."""
        steps = self._columns.steps
        for number in range(self._first_chunks[place], self._first_chunks[place + 1]):
            position = int(self._chunks.position[number])
            if start_s <= steps.start_s[position] < end_s:
                yield {
                    "step": steps.first_step + position,
                    "num_tokens": int(self._chunks.num_tokens[number]),
                    "end_us": microseconds(nanoseconds(float(steps.end_s[position]))),
                }
