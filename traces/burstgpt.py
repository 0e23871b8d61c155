"""The BurstGPT traces: CSV with seconds and lengths, in the newer form with sessions."""

from traces.csv_rows import CsvRows
from traces.parsed_rows import ParsedRows
from traces.read_settings import ReadSettings
from traces.recorded_row import RecordedRow
from traces.recording import Recording
from traces.trace_lines import TraceLines

BURSTGPT_COLUMNS = ("Timestamp", "Request tokens", "Response tokens")
SESSION_COLUMNS = ("Session ID", "Elapsed time")
UNUSED_COLUMNS = ("Model", "Total tokens", "Log Type")


def read_burstgpt(lines: TraceLines, settings: ReadSettings) -> ParsedRows:
    """Read `Timestamp`, `Request tokens`, `Response tokens` and, if there are, `Session ID` and `Elapsed time`.

    Times count from the earliest request: the files begin anywhere in their months. Rows with a `Session ID` are turns
    of that session, and `Elapsed time`, the seconds that the recorded answer took, bounds the think time between them;
    rows without one are requests of their own. Requests that failed (a length of zero) are dropped and counted.

    Raises:
        TraceError: a line is not what it must be.
    """
    table = CsvRows(lines, BURSTGPT_COLUMNS, (*SESSION_COLUMNS, *UNUSED_COLUMNS))
    recording = Recording(lines, settings)
    units = settings.units_per_second("s")
    for index, (line, (timestamp, request, response, session, elapsed, *_)) in enumerate(table):
        start_ns = table.time_ns(line, "Timestamp", timestamp, units)
        num_output = table.num_tokens(line, "Response tokens", response)
        num_input = table.num_tokens(line, "Request tokens", request)
        service_ns = table.time_ns(line, "Elapsed time", elapsed, units) if elapsed else None
        if recording.drops(("Response tokens", num_output), ("Request tokens", num_input)):
            continue
        session_id = session or None
        if recording.wants(line, start_ns, session_id):
            recording.keep(RecordedRow(index, line, start_ns, num_input, num_output, session_id, service_ns))
    version = "with sessions" if table.has("Session ID") else "without sessions"
    return recording.parsed(
        f"Read as BurstGPT CSV {version}, Timestamp in {settings.unit_name('s')}.",
        "Times count from the earliest request; prompts share no prefix, as the file does not say what they hold.",
        *table.notices,
        *recording.order_notice,
    )
