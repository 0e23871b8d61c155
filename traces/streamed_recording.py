"""The rows of a recording as requests, one by one, where they stand in the order of time."""

from collections import Counter
from collections.abc import Iterator
from typing import Protocol

from traces.canonical_row import default_request_id
from traces.dropped_rows import DroppedRows
from traces.errors import UnstreamableError
from traces.parsed_rows import dropped_notice
from traces.recorded_row import RecordedRow
from traces.time_quantum import MAX_TIME_S, NS_PER_SECOND, to_seconds
from traces.trace_request import TraceRequest


class RecordedRows(Protocol):
    """The usable rows of a file of one format, and what is known of them at the end."""

    dropped: DroppedRows

    @property
    def origin_ns(self) -> int | None:
        """Time that is 0 in the trace; None is the earliest row."""

    @property
    def notices(self) -> tuple[str, ...]:
        """What was decided."""

    def __iter__(self) -> Iterator[RecordedRow]:
        """Yield the rows in the order of the file."""


class StreamedRecording:
    """The requests of a recording without sessions and content ids.

    Args:
        rows: of the file.
    """

    hash_id_count = None

    def __init__(self, rows: RecordedRows) -> None:
        self._rows = rows
        self._num_kept = 0

    def __iter__(self) -> Iterator[TraceRequest]:
        """Yield each.

        Raises:
            TraceError: a line is not what it must be.
            UnstreamableError: rows are not in the order of time, belong to sessions, or have ids of their own.
        """
        zero_ns = self._rows.origin_ns
        latest_ns = 0
        for row in self._rows:
            if zero_ns is None:
                zero_ns = row.start_ns
            since_ns = row.start_ns - zero_ns
            is_alone = row.session_id is None and row.request_id is None  # ids must be compared with all others
            if not (is_alone and latest_ns <= since_ns <= MAX_TIME_S * NS_PER_SECOND):
                raise UnstreamableError
            latest_ns = since_ns
            self._num_kept += 1
            yield _request(row, since_ns)

    @property
    def dropped(self) -> Counter[str]:
        """Rows so far that cannot be replayed, by reason."""
        return self._rows.dropped.by_reason

    @property
    def notices(self) -> tuple[str, ...]:
        """What was decided; known at the end."""
        return *self._rows.notices, *dropped_notice(self._num_kept, self.dropped)


def _request(row: RecordedRow, since_ns: int) -> TraceRequest:
    return TraceRequest(
        request_id=default_request_id(row.position),
        line=row.line,
        input_length=row.input_length,
        output_length=row.output_length,
        arrival_s=to_seconds(since_ns, NS_PER_SECOND),
        priority=row.priority,
    )
