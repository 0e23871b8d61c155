"""Chooses the rows of a window while a file is read."""

from collections import Counter

from traces.recorded_row import RecordedRow
from traces.time_quantum import NS_PER_SECOND
from traces.trace_lines import TraceLines
from traces.window import Window

Place = tuple[int, int]  # when the first turn starts, and its line
NEVER = 2**80  # nanoseconds: behind any date


class RowWindow:
    """Holds no more rows than a trace will have, so that a file of any length can be read.

        origin             origin + start              origin + end
           |---------------------[======= kept ========)------------

    A session is inside with its first turn or not at all. A limit ends before the first session that exceeds it; while
    the file is read, as many of the earliest sessions and single rows are held as the limit has requests.

    Args:
        lines: the file, for errors.
        window: what is wanted.
        origin_ns: time that the window counts from; None is the first row that is offered.
        max_rows: rows from which on a trace is refused as too long to hold.
        keeps_sessions: whether sessions stay whole; else each row is chosen by itself.
    """

    def __init__(
        self, lines: TraceLines, window: Window, origin_ns: int | None, max_rows: int, keeps_sessions: bool = True
    ) -> None:
        self._lines = lines
        self._window = window
        self._max_rows = max_rows
        self._keeps_sessions = keeps_sessions
        self._places: dict[str, Place] = {}
        self._place: Place = (NEVER, 0)
        self._rows: list[RecordedRow] = []
        self._row_places: list[Place] = []  # one a row, if there is a limit
        self._last_kept: Place = (NEVER, 0)
        self.num_offered = self.num_late = 0
        self.first_late_line: int | None = None
        self.first_ns, self.latest_ns = NEVER, -NEVER
        self._start_ns, self._end_ns = -NEVER, NEVER
        self._origin_ns = origin_ns
        self._is_origin_given = origin_ns is not None
        if origin_ns is not None:
            self._count_from(origin_ns)

    def wants(self, line: int, start_ns: int, session_id: str | None = None) -> bool:
        """Take notice of a usable row and say whether to `keep` it.

        Args:
            line: where it stands.
            start_ns: when it starts.
            session_id: what it is inside or outside together with.

        Raises:
            TraceError: bounds count from the first row, and this one is earlier.
        """
        if self._origin_ns is None:
            self._count_from(start_ns)
        self.num_offered += 1
        if start_ns < self.first_ns:
            self._check_order(line, start_ns)
            self.first_ns = start_ns
        if start_ns >= self.latest_ns:
            self.latest_ns = start_ns
        else:
            self.num_late += 1
            self.first_late_line = self.first_late_line or line
        place = (start_ns, line)
        if session_id is not None and self._keeps_sessions:
            place = self._places.setdefault(session_id, place)
        self._place = place
        return self._start_ns <= place[0] < self._end_ns and place <= self._last_kept

    def keep(self, row: RecordedRow) -> None:
        """Hold the row that `wants` was asked about last.

        Raises:
            TraceError: that makes more rows than a trace may have.
        """
        self._rows.append(row)
        limit = self._window.limit
        if limit is not None:
            self._row_places.append(self._place)
            if len(self._rows) > 2 * limit + 1000:
                self._drop_late(limit)
        if len(self._rows) > self._max_rows:
            raise self._lines.error(
                row.line,
                f"this is the {self._max_rows + 1:,}th request, and more than {self._max_rows:,} are not held; choose "
                "a part of the trace by start and end, or by a limit",
            )

    @property
    def rows(self) -> list[RecordedRow]:
        """The rows inside, in the order in which they were kept."""
        if self._window.limit is not None:
            self._drop_beyond(self._window.limit)
        return self._rows

    @property
    def zero_ns(self) -> int:
        """Time on the recording's clock that is 0 in the trace."""
        if self._window.start_s is not None:
            return self._start_ns
        if self._is_origin_given and self._origin_ns is not None:
            return self._origin_ns
        return self.first_ns

    def _count_from(self, origin_ns: int) -> None:
        self._origin_ns = origin_ns
        if self._window.start_s is not None:
            self._start_ns = origin_ns + round(self._window.start_s * NS_PER_SECOND)
        if self._window.end_s is not None:
            self._end_ns = origin_ns + round(self._window.end_s * NS_PER_SECOND)

    def _check_order(self, line: int, start_ns: int) -> None:
        is_bounded = self._window.start_s is not None or self._window.end_s is not None
        if is_bounded and self._origin_ns is not None and start_ns < self._origin_ns:
            early_s = (self._origin_ns - start_ns) / NS_PER_SECOND
            raise self._lines.error(
                line,
                f"this row is {early_s:.10g} s earlier than the first, which start and end count from; sort the file "
                "by time, or read it whole",
            )

    def _drop_late(self, limit: int) -> None:
        """Keep the earliest `limit` places only; a row at a later one is not wanted any more."""
        places = sorted(set(self._row_places))
        if len(places) > limit:
            self._keep_up_to(places[limit - 1])

    def _drop_beyond(self, limit: int) -> None:
        """Keep the earliest places that have at most `limit` rows together."""
        num_rows = 0
        last_kept: Place = (-NEVER, 0)
        for place, num_at_place in sorted(Counter(self._row_places).items()):
            num_rows += num_at_place
            if num_rows > limit:
                self._keep_up_to(last_kept)
                return
            last_kept = place

    def _keep_up_to(self, place: Place) -> None:
        self._last_kept = place
        self._rows = [row for row, at in zip(self._rows, self._row_places, strict=True) if at <= place]
        self._row_places = [at for at in self._row_places if at <= place]
