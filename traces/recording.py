"""The calls of a recorded file on their way to requests: what is dropped, what lies in the window, what is kept."""

from traces.dropped_rows import DroppedRows
from traces.errors import TraceError
from traces.parsed_rows import ParsedRows, dropped_notice, sorted_notice
from traces.read_settings import ReadSettings
from traces.recorded_requests import RecordedRequests
from traces.recorded_row import RecordedRow
from traces.row_window import RowWindow
from traces.time_quantum import NS_PER_SECOND
from traces.trace_lines import TraceLines

CHECK_UNIT = ", or check the time unit (--time-unit)"
DRAW_ARRIVALS = ", or draw arrivals (--request-rate)"


class Recording:
    """Takes the rows of one file.

    Args:
        lines: the file.
        settings: how it is read.
        origin_ns: time of the file that is 0 in the trace; None is its earliest row.
        dropped: where rows that cannot be replayed are counted, if others count there too.
        other_remedy: what helps, beside a window, where times lie too far apart.
    """

    def __init__(
        self,
        lines: TraceLines,
        settings: ReadSettings,
        origin_ns: int | None = None,
        dropped: DroppedRows | None = None,
        other_remedy: str = CHECK_UNIT,
    ) -> None:
        self._other_remedy = other_remedy
        self._lines = lines
        self._settings = settings
        keeps_sessions = not settings.rule.is_open
        self._rows = RowWindow(lines, settings.window, origin_ns, settings.max_requests, keeps_sessions)
        self._dropped = DroppedRows() if dropped is None else dropped
        self.wants = self._rows.wants
        self.keep = self._rows.keep
        self.drop = self._dropped.drop
        self.drops = self._dropped.drops

    def add(self, row: RecordedRow) -> None:
        """Keep a row if it is inside the window."""
        if self.wants(row.line, row.start_ns, row.session_id):
            self.keep(row)

    @property
    def num_usable(self) -> int:
        """Rows so far that were not dropped."""
        return self._rows.num_offered

    @property
    def rows(self) -> list[RecordedRow]:
        """The rows inside the window, in the order in which they were added."""
        return self._rows.rows

    @property
    def order_notice(self) -> tuple[str, ...]:
        """A sentence about rows that stood behind a later one, for a file that ought to be in the order of time."""
        return sorted_notice(self._rows.num_late, self._rows.first_late_line)

    def parsed(
        self,
        *notices: str,
        rows: list[RecordedRow] | None = None,
        is_stated: bool = False,
        block_size: int | None = None,
    ) -> ParsedRows:
        """Return what was kept as requests.

        Args:
            notices: what the format decided.
            rows: what to make of the kept rows, in place of these.
            is_stated: whether the file states the delays inside sessions.
            block_size: prompt tokens of one of hash_ids.

        Raises:
            TraceError: nothing is usable or lies in the window, or a time is beyond what a trace may span.
        """
        kept = self.rows if rows is None else rows
        if not kept and self._rows.num_offered:
            raise TraceError(self._nothing_inside())
        requests = RecordedRequests(self._settings, self._rows.zero_ns, self._lines, self._other_remedy)
        made = requests.of(kept)
        by_reason = self._dropped.by_reason
        dropped = dropped_notice(self._rows.num_offered, by_reason)
        all_notices = (*notices, *requests.notices(is_stated), *dropped)
        return ParsedRows(made, all_notices, block_size, self._rows.num_offered, dict(by_reason))

    def _nothing_inside(self) -> str:
        span_s = round((self._rows.latest_ns - self._rows.first_ns) / NS_PER_SECOND, 6)
        return (
            f"no whole session or request of {self._lines.path} lies in the window ({self._settings.window}): its "
            f"{self._rows.num_offered} usable rows span {span_s:.10g} s"
        )
