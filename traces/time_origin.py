"""Which time of a file is 0 in its trace, where the file itself does not say."""

from datetime import UTC, datetime

from traces.csv_rows import CsvRows
from traces.errors import TraceError
from traces.time_quantum import MAX_TIME_S, NS_PER_SECOND
from traces.trace_lines import TraceLines


def is_calendar(lines: TraceLines, table: CsvRows, column: str, position: int, units_per_second: int) -> bool:
    """Return whether times count from the earliest row, since the first lies beyond what a trace may span.

        0                      MAX_TIME_S              1.7e9 s (2023)
        |-- as they are -----------|------ calendar: the earliest is 0 ------

    Args:
        lines: the file, of which no row is taken.
        table: its rows.
        column: its name.
        position: of the column among those that the table was asked for.
        units_per_second: of times in that column.
    """
    with lines.looking_ahead():
        try:
            line, texts = next(iter(table))
            return table.time_ns(line, column, texts[position], units_per_second) > MAX_TIME_S * NS_PER_SECOND
        except (StopIteration, TraceError):  # which is told when the rows are read
            return False


def in_words(since_epoch_ns: int) -> str:
    """Return a calendar time as a date, to whole microseconds; as seconds if there is no such year."""
    seconds, rest_ns = divmod(since_epoch_ns, NS_PER_SECOND)
    try:
        moment = datetime.fromtimestamp(seconds, UTC).replace(microsecond=rest_ns // 1000)
    except (ValueError, OverflowError, OSError):
        return f"{since_epoch_ns / NS_PER_SECOND:.10g} s"
    return moment.isoformat(" ")


def origin_notice(column: str, earliest_ns: int) -> str:
    """Return a sentence about times that count from the earliest."""
    return f"{column} is calendar time: times count from the earliest request, {in_words(earliest_ns)}."
