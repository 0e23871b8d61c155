"""CSV files of one's own, whose columns the user names."""

from collections.abc import Callable, Iterator

from traces.calendar_time import TIMESTAMP, CalendarTimes
from traces.column_map import COLUMNS_PATTERN, ColumnMap
from traces.csv_rows import WHOLE_NUMBER, CsvRows, csv_header
from traces.dropped_rows import DroppedRows
from traces.errors import TraceError
from traces.parsed_rows import ParsedRows
from traces.read_settings import ReadSettings
from traces.recorded_row import RecordedRow
from traces.recording import Recording
from traces.time_origin import is_calendar, origin_notice
from traces.trace_lines import TraceLines

MAX_PRIORITY = 2**31 - 1
MAX_SHOWN = 12
TimeReader = Callable[[int, str], int]


class ColumnsRows:
    """The usable rows of a file, in its order, by the columns that `ReadSettings.columns` names.

    Times are all numbers, in seconds unless a time unit is given, or all dates; dates, and numbers beyond what a trace
    may span, count from the earliest row. Rows with a length of zero are dropped and counted.

    Args:
        lines: the file.
        settings: give columns and time unit.

    Raises:
        TraceError: no columns are named, the header lacks one, or a time unit is given for dates.
    """

    def __init__(self, lines: TraceLines, settings: ReadSettings) -> None:
        self.dropped = DroppedRows()
        self._lines = lines
        self._settings = settings
        self._map = _columns(settings)
        self._check_header()
        self._table = CsvRows(lines, (*self._map.needed, *self._map.optional))
        self._has_dates = self._first_is_date()
        units = settings.units_per_second("s")
        self._is_calendar = self._has_dates or is_calendar(lines, self._table, self._map.time, 0, units)
        self._earliest_ns: int | None = None

    @property
    def origin_ns(self) -> int | None:
        """Time that is 0 in the trace; None is the earliest row."""
        return None if self._is_calendar else 0

    def __iter__(self) -> Iterator[RecordedRow]:
        """Yield each.

        Raises:
            TraceError: a line is not what it must be.
        """
        names, table, time_ns = self._map, self._table, self._time_reader()
        for index, (line, (time, prompt, answer, *others)) in enumerate(table):
            start_ns = time_ns(line, time)
            num_input = table.num_tokens(line, names.input, prompt)
            num_output = table.num_tokens(line, names.output, answer)
            session, request_id, priority = self._others(line, others)
            if not self.dropped.drops((names.input, num_input), (names.output, num_output)):
                self._earliest_ns = start_ns if self._earliest_ns is None else min(start_ns, self._earliest_ns)
                yield RecordedRow(
                    *(index, line, start_ns, num_input, num_output, session),
                    request_id=request_id,
                    priority=priority,
                )

    @property
    def notices(self) -> tuple[str, ...]:
        """What was decided; known at the end."""
        names = self._map
        unit = "calendar time" if self._has_dates else self._settings.unit_name("s")
        read = f"Read as CSV with columns as given, {names.time} in {unit}."
        is_told = self._is_calendar and self._earliest_ns is not None
        origin = (origin_notice(names.time, self._earliest_ns or 0),) if is_told else ()
        return read, *origin, *self._table.notices

    def _check_header(self) -> None:
        line, content = self._lines.first()
        header = csv_header(content)
        missing = [name for name in (*self._map.needed, *self._map.optional) if name not in header]
        if missing:
            shown = ", ".join(header[:MAX_SHOWN]) + (", ..." if len(header) > MAX_SHOWN else "")
            raise self._lines.error(
                line, f"there is no column {', '.join(missing)}, which --columns names; the header has {shown[:400]}"
            )

    def _first_is_date(self) -> bool:
        with self._lines.looking_ahead():
            try:
                _, (text, *_) = next(iter(self._table))
            except (StopIteration, TraceError):  # which is told when the rows are read
                return False
        is_date = TIMESTAMP.fullmatch(text) is not None
        if is_date and self._settings.time_unit is not None:
            unit = self._settings.time_unit
            raise TraceError(f"a time unit is given ({unit}), but {self._map.time} holds dates; leave it out")
        return is_date

    def _time_reader(self) -> TimeReader:
        if self._has_dates:
            return _DateReader(self._lines, self._map.time)
        units = self._settings.units_per_second("s")
        return lambda line, text: self._table.time_ns(line, self._map.time, text, units)

    def _others(self, line: int, texts: list[str]) -> tuple[str | None, str | None, int]:
        """Session, id and priority, as far as the file has them; an empty text is none."""
        given = iter(texts)
        session, request_id, priority = (
            next(given) if name is not None else "" for name in (self._map.session, self._map.id, self._map.priority)
        )
        return session or None, request_id or None, self._priority(line, priority) if priority else 0

    def _priority(self, line: int, text: str) -> int:
        found = WHOLE_NUMBER.fullmatch(text)
        number = int(found[1]) if found and len(text) < 20 else MAX_PRIORITY + 1
        if abs(number) > MAX_PRIORITY:
            right = f"a whole number from {-MAX_PRIORITY} to {MAX_PRIORITY}"
            raise self._lines.error(line, f"{self._map.priority} is {text[:60]!r}, but it must be {right}")
        return number


class _DateReader:
    def __init__(self, lines: TraceLines, column: str) -> None:
        self._lines = lines
        self._column = column
        self._calendar = CalendarTimes()

    def __call__(self, line: int, text: str) -> int:
        time_ns = self._calendar.time_ns(text)
        if time_ns is None:
            right = "a date and time like 2023-11-16 18:15:46.680, as in the first row"
            raise self._lines.error(line, f"{self._column} is {text[:60]!r}, but it must be {right}")
        return time_ns


def read_columns(lines: TraceLines, settings: ReadSettings) -> ParsedRows:
    """Read the rows of a file, see `ColumnsRows`.

    Raises:
        TraceError: a line is not what it must be, or no columns are named.
    """
    rows = ColumnsRows(lines, settings)
    recording = Recording(lines, settings, rows.origin_ns, rows.dropped)
    for row in rows:
        recording.add(row)
    return recording.parsed(*rows.notices, *recording.order_notice)


def _columns(settings: ReadSettings) -> ColumnMap:
    if settings.columns is None:
        raise TraceError(f"format columns needs the names of columns; give --columns {COLUMNS_PATTERN}")
    return ColumnMap.parse(settings.columns)
