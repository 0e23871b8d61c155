"""The processed traces of Vidur: CSV with lengths, in part with arrivals in seconds."""

from collections.abc import Iterator

from traces.csv_rows import CsvRows
from traces.drawn_arrivals import DrawnArrivals
from traces.dropped_rows import DroppedRows
from traces.parsed_rows import ParsedRows
from traces.read_settings import ReadSettings
from traces.recorded_row import RecordedRow
from traces.recording import Recording
from traces.time_origin import is_calendar, origin_notice
from traces.trace_lines import TraceLines

VIDUR_COLUMNS = ("num_prefill_tokens", "num_decode_tokens")
UNUSED_COLUMNS = ("num_total_tokens", "pd_ratio")


class VidurRows:
    """The usable rows of `num_prefill_tokens`, `num_decode_tokens` and, if there is one, `arrived_at`.

    Rows with a length of zero are dropped and counted. Times beyond what a trace may span count from the earliest row.

    Args:
        lines: the file.
        settings: give the time unit, or how arrivals are drawn.

    Raises:
        TraceError: the header lacks a column, or settings are given for arrivals that the file has or lacks.
    """

    def __init__(self, lines: TraceLines, settings: ReadSettings) -> None:
        self.dropped = DroppedRows()
        self._settings = settings
        self._table = CsvRows(lines, VIDUR_COLUMNS, ("arrived_at", *UNUSED_COLUMNS))
        self._arrivals = DrawnArrivals(settings)
        is_timed = self._table.has("arrived_at")
        settings.check_arrivals(is_timed, "arrived_at", lines)
        units = settings.units_per_second("s")
        self._is_calendar = is_timed and is_calendar(lines, self._table, "arrived_at", len(VIDUR_COLUMNS), units)
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
        table, units = self._table, self._settings.units_per_second("s")
        is_timed = table.has("arrived_at")
        for index, (line, (prefill, decode, arrived, *_)) in enumerate(table):
            num_input = table.num_tokens(line, "num_prefill_tokens", prefill)
            num_output = table.num_tokens(line, "num_decode_tokens", decode)
            start_ns = table.time_ns(line, "arrived_at", arrived, units) if is_timed else None
            if not self.dropped.drops(("num_prefill_tokens", num_input), ("num_decode_tokens", num_output)):
                start_ns = self._arrivals.next_ns() if start_ns is None else start_ns
                self._earliest_ns = start_ns if self._earliest_ns is None else min(start_ns, self._earliest_ns)
                yield RecordedRow(index, line, start_ns, num_input, num_output)

    @property
    def notices(self) -> tuple[str, ...]:
        """What was decided."""
        is_timed = self._table.has("arrived_at")
        times = f"arrived_at in {self._settings.unit_name('s')}" if is_timed else "lengths only"
        drawn = () if is_timed else (self._arrivals.notice("requests"),)
        is_told = self._is_calendar and self._earliest_ns is not None
        origin = (origin_notice("arrived_at", self._earliest_ns or 0),) if is_told else ()
        return f"Read as Vidur CSV, {times}.", *drawn, *origin, *self._table.notices


def read_vidur(lines: TraceLines, settings: ReadSettings) -> ParsedRows:
    """Read the rows of a file, see `VidurRows`.

    Raises:
        TraceError: a line is not what it must be, or settings are given for arrivals that the file has or lacks.
    """
    rows = VidurRows(lines, settings)
    recording = Recording(lines, settings, rows.origin_ns, rows.dropped)
    for row in rows:
        recording.add(row)
    return recording.parsed(*rows.notices, *recording.order_notice)
