"""The Azure LLM inference traces: CSV with calendar times and lengths."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from traces.arrival_times import ArrivalTimes, Stamp
from traces.canonical_row import default_request_id
from traces.csv_rows import CsvRows
from traces.parsed_rows import ParsedRows, dropped_notice
from traces.trace_lines import TraceLines
from traces.trace_request import TraceRequest

AZURE2023_COLUMNS = ("TIMESTAMP", "ContextTokens", "GeneratedTokens")
UNITS_PER_SECOND = 10**9
TIMESTAMP = re.compile(r"(\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)?", re.ASCII)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class AzureRow:
    """One row with its position among the data rows and its time in ns since 1970."""

    index: int
    line: int
    timestamp: str
    time_ns: int
    input_length: int
    output_length: int


def read_azure2023(lines: TraceLines) -> ParsedRows:
    """Read `TIMESTAMP,ContextTokens,GeneratedTokens`; times count from the earliest request.

    Rows with a length of zero (requests that failed) are dropped and counted.

    Raises:
        TraceError: a line is not what it must be.
    """
    table = CsvRows(lines, AZURE2023_COLUMNS)
    dropped: Counter[str] = Counter()
    rows: list[AzureRow] = []
    for index, (line, texts) in enumerate(table):
        row = _row(table, lines, index, line, texts)
        zero = next((name for name, length in _lengths(row) if length == 0), None)
        if zero is None:
            rows.append(row)
        else:
            dropped[f"{zero} is 0"] += 1
    origin = "Read as Azure CSV, TIMESTAMP in calendar time."
    notices = (origin, *_origin_notice(rows), *table.notices, *dropped_notice(len(rows), dropped))
    return ParsedRows(_requests(rows, lines), notices)


def _row(table: CsvRows, lines: TraceLines, index: int, line: int, texts: Sequence[str]) -> AzureRow:
    timestamp, context, generated = texts
    return AzureRow(
        index=index,
        line=line,
        timestamp=timestamp,
        time_ns=_time_ns(lines, line, timestamp),
        input_length=table.num_tokens(line, "ContextTokens", context),
        output_length=table.num_tokens(line, "GeneratedTokens", generated),
    )


def _time_ns(lines: TraceLines, line: int, text: str) -> int:
    """Nanoseconds since 1970; a time without an offset is taken as UTC, and all digits of the fraction count."""
    found = TIMESTAMP.fullmatch(text.strip())
    moment = None if found is None else _moment(found[1] + (found[3] or "+00:00"))
    if found is None or moment is None:
        right = "a date and time like 2023-11-16 18:15:46.6805900"
        raise lines.error(line, f"TIMESTAMP is {text[:60]!r}, but it must be {right}")
    elapsed = moment - EPOCH
    return (elapsed.days * 86_400 + elapsed.seconds) * UNITS_PER_SECOND + int((found[2] or "").ljust(9, "0"))


def _moment(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:  # the right digits, but no such day or hour
        return None


def _lengths(row: AzureRow) -> tuple[tuple[str, int], ...]:
    return ("ContextTokens", row.input_length), ("GeneratedTokens", row.output_length)


def _origin_notice(rows: Sequence[AzureRow]) -> tuple[str, ...]:
    if not rows:
        return ()
    return (f"Times count from the earliest request, {min(rows, key=lambda row: row.time_ns).timestamp}.",)


def _requests(rows: Sequence[AzureRow], lines: TraceLines) -> tuple[TraceRequest, ...]:
    origin_ns = min((row.time_ns for row in rows), default=0)
    stamps = [Stamp(row.line, row.time_ns - origin_ns) for row in rows]
    times = ArrivalTimes.of(stamps, "TIMESTAMP in ns", UNITS_PER_SECOND, lines)
    return tuple(
        TraceRequest(
            request_id=default_request_id(row.index),
            line=row.line,
            input_length=row.input_length,
            output_length=row.output_length,
            arrival_s=times.arrival_s(stamp.amount),
        )
        for row, stamp in zip(rows, stamps, strict=True)
    )
