"""The rows of a CSV file, read by column name."""

import csv
import re
from collections.abc import Iterator, Sequence
from decimal import Decimal

from traces.time_quantum import NS_PER_SECOND
from traces.trace_lines import TraceLines

WHOLE_NUMBER = re.compile(r"\s*([+-]?\d+)(?:\.0+)?\s*", re.ASCII)
AMOUNT = re.compile(r"\s*\+?(?:\d{1,18}(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,2})?\s*", re.ASCII)
MAX_TOKENS = 2**31 - 1
MAX_REMEMBERED = 100_000


def csv_header(line: bytes) -> list[str]:
    """Return the column names in a line, which may be no header at all."""
    try:
        return next(csv.reader([line.decode()], strict=True), [])
    except (UnicodeDecodeError, csv.Error):
        return []


class CsvRows:
    """The rows behind a header as texts of the wanted columns, wherever these stand.

    Args:
        lines: the file; the header is read at once.
        columns: names of the wanted columns.
        optional: names of columns that a file may lack; their texts are then empty.

    Raises:
        TraceError: the header lacks a column, or names one twice.
    """

    def __init__(self, lines: TraceLines, columns: Sequence[str], optional: Sequence[str] = ()) -> None:
        self._lines = lines
        self._header_line, content = lines.first()
        self._header = csv_header(content)
        missing = [name for name in columns if name not in self._header]
        if missing:
            raise lines.error(
                self._header_line, f"the header has no column {', '.join(missing)}; it must name {', '.join(columns)}"
            )
        wanted = (*columns, *optional)
        doubled = [name for name in wanted if self._header.count(name) > 1]
        if doubled:
            raise lines.error(
                self._header_line,
                f"the header names {', '.join(doubled)} more than once; leave one column of that name",
            )
        # An absent column is read behind the end of the row, where an empty text is put.
        self._positions = [self._header.index(name) if name in self._header else -1 for name in wanted]
        self._numbers: dict[str, int] = {}  # millions of rows hold few different lengths
        self._unknown = [name for name in self._header if name not in wanted]

    def has(self, column: str) -> bool:
        """Return whether the file has a column."""
        return column in self._header

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        """Yield line number and texts, in the order in which the columns were asked for.

        Raises:
            TraceError: a row is not CSV, or has not one text for each column.
        """
        num_columns = len(self._header)
        is_as_asked = self._positions == list(range(num_columns))
        for number, content in self._lines:
            if number == self._header_line:
                continue
            texts = self._texts(number, content)
            if len(texts) != num_columns:
                raise self._lines.error(
                    number, f"there are {len(texts)} fields, but the header has {num_columns} columns"
                )
            if not is_as_asked:
                texts.append("")
                texts = [texts[position] for position in self._positions]
            yield number, texts

    def _texts(self, line: int, content: bytes) -> list[str]:
        try:
            text = content.decode()
            return next(csv.reader([text], strict=True)) if '"' in text or "\r" in text else text.split(",")
        except UnicodeDecodeError as error:
            raise self._lines.error(line, f"not UTF-8 ({error.reason})") from error
        except csv.Error as error:
            raise self._lines.error(line, f"not valid CSV ({error})") from error

    def num_tokens(self, line: int, column: str, text: str) -> int:
        """Return a text as a number of tokens, zero or more.

        Raises:
            TraceError: it is something else.
        """
        known = self._numbers.get(text)
        if known is not None:
            return known
        found = WHOLE_NUMBER.fullmatch(text)
        number = int(found[1]) if found and len(text) < 20 else -1
        if not 0 <= number <= MAX_TOKENS:
            raise self._lines.error(
                line, f"{column} is {text[:60]!r}, but it must be a whole number of tokens from 0 to {MAX_TOKENS}"
            )
        if len(self._numbers) < MAX_REMEMBERED:
            self._numbers[text] = number
        return number

    def time_ns(self, line: int, column: str, text: str, units_per_second: int) -> int:
        """Return a text as whole nanoseconds, zero or more.

        Raises:
            TraceError: it is something else.
        """
        if not AMOUNT.fullmatch(text):
            raise self._lines.error(line, f"{column} is {text[:60]!r}, but it must be a number, 0 or more")
        time_ns = round(Decimal(text.strip()) * NS_PER_SECOND / units_per_second)
        if time_ns >= 2**62:
            raise self._lines.error(
                line, f"{column} is {text[:60]!r}, which is beyond any time; check its unit (--time-unit)"
            )
        return time_ns

    @property
    def notices(self) -> tuple[str, ...]:
        """A sentence about columns that were not asked for, if there are any."""
        return (f"Unknown columns were ignored: {', '.join(self._unknown)}.",) if self._unknown else ()
