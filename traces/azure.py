"""The Azure LLM inference traces of 2023, 2024 and 2025: CSV with calendar times and lengths."""

from traces.calendar_time import CalendarTimes
from traces.csv_rows import CsvRows
from traces.parsed_rows import ParsedRows
from traces.read_settings import ReadSettings
from traces.recorded_row import RecordedRow
from traces.recording import Recording
from traces.trace_lines import TraceLines

AZURE_COLUMNS = ("TIMESTAMP", "ContextTokens", "GeneratedTokens")


def read_azure(lines: TraceLines, settings: ReadSettings) -> ParsedRows:
    """Read `TIMESTAMP,ContextTokens,GeneratedTokens`; times count from the earliest request.

    Fractions of 0 to 9 digits and times with and without an offset may stand in one file. Rows with a length of zero
    (requests that failed) are dropped and counted. Of 44 million rows only those of the window are held.

    Raises:
        TraceError: a line is not what it must be.
    """
    table = CsvRows(lines, AZURE_COLUMNS)
    recording = Recording(lines, settings)
    calendar = CalendarTimes()
    earliest_ns, earliest = 0, ""
    for index, (line, (timestamp, context, generated)) in enumerate(table):
        start_ns = calendar.time_ns(timestamp)
        if start_ns is None:
            right = "a date and time like 2023-11-16 18:15:46.6805900"
            raise lines.error(line, f"TIMESTAMP is {timestamp[:60]!r}, but it must be {right}")
        num_input = table.num_tokens(line, "ContextTokens", context)
        num_output = table.num_tokens(line, "GeneratedTokens", generated)
        if num_input == 0 or num_output == 0:
            recording.drop("ContextTokens is 0" if num_input == 0 else "GeneratedTokens is 0")
            continue
        if not earliest or start_ns < earliest_ns:
            earliest_ns, earliest = start_ns, timestamp.strip()
        if recording.wants(line, start_ns):
            recording.keep(RecordedRow(index, line, start_ns, num_input, num_output))
    origin = f"Times count from the earliest request, {earliest}."
    return recording.parsed(
        "Read as Azure CSV, TIMESTAMP in calendar time.", origin, *table.notices, *recording.order_notice
    )
