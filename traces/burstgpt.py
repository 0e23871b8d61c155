"""The BurstGPT traces: CSV with seconds and lengths, in the newer form with sessions."""

from collections.abc import Iterator

from traces.csv_rows import CsvRows
from traces.dropped_rows import DroppedRows
from traces.parsed_rows import ParsedRows
from traces.read_settings import ReadSettings
from traces.recorded_row import RecordedRow
from traces.recording import Recording
from traces.trace_lines import TraceLines

BURSTGPT_COLUMNS = ("Timestamp", "Request tokens", "Response tokens")
SESSION_COLUMNS = ("Session ID", "Elapsed time")
UNUSED_COLUMNS = ("Model", "Total tokens", "Log Type")


class BurstGptRows:
    """The usable rows of a file, in its order.

    Read are `Timestamp`, `Request tokens`, `Response tokens` and, if there are, `Session ID` and `Elapsed time`. Rows
    with a `Session ID` are turns of that session, and `Elapsed time`, the seconds that the recorded answer took, bounds
    the think time between them; rows without one are requests of their own. Requests that failed (a length of zero) are
    dropped and counted.

    Args:
        lines: the file.
        settings: give the time unit.

    Raises:
        TraceError: the header lacks a column.
    """

    origin_ns = None  # times count from the earliest row: the files begin anywhere in their months

    def __init__(self, lines: TraceLines, settings: ReadSettings) -> None:
        self.dropped = DroppedRows()
        self._settings = settings
        self._table = CsvRows(lines, BURSTGPT_COLUMNS, (*SESSION_COLUMNS, *UNUSED_COLUMNS))

    def __iter__(self) -> Iterator[RecordedRow]:
        """Yield each.

        Raises:
            TraceError: a line is not what it must be.
        """
        table, units = self._table, self._settings.units_per_second("s")
        for index, (line, (timestamp, request, response, session, elapsed, *_)) in enumerate(table):
            start_ns = table.time_ns(line, "Timestamp", timestamp, units)
            num_output = table.num_tokens(line, "Response tokens", response)
            num_input = table.num_tokens(line, "Request tokens", request)
            service_ns = table.time_ns(line, "Elapsed time", elapsed, units) if elapsed else None
            if not self.dropped.drops(("Response tokens", num_output), ("Request tokens", num_input)):
                yield RecordedRow(index, line, start_ns, num_input, num_output, session or None, service_ns)

    @property
    def notices(self) -> tuple[str, ...]:
        """What was decided."""
        version = "with sessions" if self._table.has("Session ID") else "without sessions"
        return (
            f"Read as BurstGPT CSV {version}, Timestamp in {self._settings.unit_name('s')}.",
            "Times count from the earliest request; prompts share no prefix, as the file does not say what they hold.",
            *self._table.notices,
        )


def read_burstgpt(lines: TraceLines, settings: ReadSettings) -> ParsedRows:
    """Read the rows of a file, see `BurstGptRows`.

    Raises:
        TraceError: a line is not what it must be.
    """
    rows = BurstGptRows(lines, settings)
    recording = Recording(lines, settings, dropped=rows.dropped)
    for row in rows:
        recording.add(row)
    return recording.parsed(*rows.notices, *recording.order_notice)
