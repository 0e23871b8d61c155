"""The processed traces of Vidur: CSV with lengths, in part with arrivals in seconds."""

from traces.csv_rows import CsvRows
from traces.drawn_arrivals import DrawnArrivals
from traces.parsed_rows import ParsedRows
from traces.read_settings import ReadSettings
from traces.recorded_row import RecordedRow
from traces.recording import Recording
from traces.trace_lines import TraceLines

VIDUR_COLUMNS = ("num_prefill_tokens", "num_decode_tokens")
UNUSED_COLUMNS = ("num_total_tokens", "pd_ratio")


def read_vidur(lines: TraceLines, settings: ReadSettings) -> ParsedRows:
    """Read `num_prefill_tokens`, `num_decode_tokens` and, if there is one, `arrived_at`.

    Rows with a length of zero are dropped and counted.

    Raises:
        TraceError: a line is not what it must be, or settings are given for arrivals that the file has or lacks.
    """
    table = CsvRows(lines, VIDUR_COLUMNS, ("arrived_at", *UNUSED_COLUMNS))
    is_timed = table.has("arrived_at")
    settings.check_arrivals(is_timed, "arrived_at", lines)
    recording = Recording(lines, settings, origin_ns=0)
    arrivals = DrawnArrivals(settings)
    units = settings.units_per_second("s")
    for index, (line, (prefill, decode, arrived, *_)) in enumerate(table):
        num_input = table.num_tokens(line, "num_prefill_tokens", prefill)
        num_output = table.num_tokens(line, "num_decode_tokens", decode)
        start_ns = table.time_ns(line, "arrived_at", arrived, units) if is_timed else None
        if recording.drops(("num_prefill_tokens", num_input), ("num_decode_tokens", num_output)):
            continue
        start_ns = arrivals.next_ns() if start_ns is None else start_ns
        recording.add(RecordedRow(index, line, start_ns, num_input, num_output))
    times = f"arrived_at in {settings.unit_name('s')}" if is_timed else "lengths only"
    drawn = () if is_timed else (arrivals.notice("requests"),)
    return recording.parsed(f"Read as Vidur CSV, {times}.", *drawn, *table.notices, *recording.order_notice)
