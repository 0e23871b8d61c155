"""The Azure LLM inference traces of 2023, 2024 and 2025: CSV with calendar times and lengths."""

from collections.abc import Callable, Iterator

from traces.calendar_time import CalendarTimes
from traces.csv_rows import CsvRows
from traces.dropped_rows import DroppedRows
from traces.parsed_rows import ParsedRows
from traces.read_settings import ReadSettings
from traces.recorded_row import RecordedRow
from traces.recording import Recording
from traces.trace_lines import TraceLines

AZURE_COLUMNS = ("TIMESTAMP", "ContextTokens", "GeneratedTokens")


class AzureRows:
    """The usable rows of `TIMESTAMP,ContextTokens,GeneratedTokens`, in the order of the file.

    Fractions of 0 to 9 digits and times with and without an offset may stand in one file. Rows with a length of zero
    (requests that failed) are dropped and counted.

    Args:
        lines: the file.

    Raises:
        TraceError: the header lacks a column.
    """

    origin_ns = None  # times count from the earliest row

    def __init__(self, lines: TraceLines) -> None:
        self.dropped = DroppedRows()
        self._lines = lines
        self._table = CsvRows(lines, AZURE_COLUMNS)
        self._earliest_ns, self._earliest = 0, ""

    def __iter__(self) -> Iterator[RecordedRow]:
        """Yield each; see `wanted`."""
        return self.wanted(lambda line, start_ns: True)

    def wanted(self, wants: Callable[[int, int], bool]) -> Iterator[RecordedRow]:
        """Yield those of which `wants(line, start_ns)`, since making a row of each costs a tenth of the time.

        Raises:
            TraceError: a line is not what it must be.
        """
        calendar, num_tokens, dropped = CalendarTimes(), self._table.num_tokens, self.dropped
        for index, (line, (timestamp, context, generated)) in enumerate(self._table):
            start_ns = calendar.time_ns(timestamp)
            if start_ns is None:
                right = "a date and time like 2023-11-16 18:15:46.6805900"
                raise self._lines.error(line, f"TIMESTAMP is {timestamp[:60]!r}, but it must be {right}")
            num_input = num_tokens(line, "ContextTokens", context)
            num_output = num_tokens(line, "GeneratedTokens", generated)
            if num_input == 0 or num_output == 0:
                dropped.drop("ContextTokens is 0" if num_input == 0 else "GeneratedTokens is 0")
                continue
            if not self._earliest or start_ns < self._earliest_ns:
                self._earliest_ns, self._earliest = start_ns, timestamp.strip()
            if wants(line, start_ns):
                yield RecordedRow(index, line, start_ns, num_input, num_output)

    @property
    def notices(self) -> tuple[str, ...]:
        """What was decided; known at the end."""
        origin = f"Times count from the earliest request, {self._earliest}."
        return "Read as Azure CSV, TIMESTAMP in calendar time.", origin, *self._table.notices


def read_azure(lines: TraceLines, settings: ReadSettings) -> ParsedRows:
    """Read the rows of a file, see `AzureRows`. Of 44 million rows only those of the window are held.

    Raises:
        TraceError: a line is not what it must be.
    """
    rows = AzureRows(lines)
    recording = Recording(lines, settings, dropped=rows.dropped, other_remedy="")
    for row in rows.wanted(recording.wants):
        recording.keep(row)
    return recording.parsed(*rows.notices, *recording.order_notice)
