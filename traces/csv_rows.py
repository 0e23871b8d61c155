"""The rows of a CSV file, read by column name."""

import csv
import re
from collections.abc import Iterator, Sequence

from traces.trace_lines import TraceLines

WHOLE_NUMBER = re.compile(r"\s*([+-]?\d+)(?:\.0+)?\s*", re.ASCII)


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

    Raises:
        TraceError: the header lacks a column, or names one twice.
    """

    def __init__(self, lines: TraceLines, columns: Sequence[str]) -> None:
        self._lines = lines
        self._header_line, content = lines.first()
        self._header = csv_header(content)
        missing = [name for name in columns if name not in self._header]
        if missing:
            raise lines.error(
                self._header_line, f"the header has no column {', '.join(missing)}; it must name {', '.join(columns)}"
            )
        doubled = [name for name in columns if self._header.count(name) > 1]
        if doubled:
            raise lines.error(
                self._header_line,
                f"the header names {', '.join(doubled)} more than once; leave one column of that name",
            )
        self._positions = [self._header.index(name) for name in columns]
        self._unknown = [name for name in self._header if name not in columns]

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        """Yield line number and texts, in the order in which the columns were asked for.

        Raises:
            TraceError: a row is not CSV, or has not one text for each column.
        """
        for number, content in self._lines:
            if number == self._header_line:
                continue
            texts = self._texts(number, content)
            if len(texts) != len(self._header):
                raise self._lines.error(
                    number, f"there are {len(texts)} fields, but the header has {len(self._header)} columns"
                )
            yield number, [texts[position] for position in self._positions]

    def _texts(self, line: int, content: bytes) -> list[str]:
        try:
            return next(csv.reader([content.decode()], strict=True))
        except UnicodeDecodeError as error:
            raise self._lines.error(line, f"not UTF-8 ({error.reason})") from error
        except csv.Error as error:
            raise self._lines.error(line, f"not valid CSV ({error})") from error

    def num_tokens(self, line: int, column: str, text: str) -> int:
        """Return a text as a number of tokens, zero or more.

        Raises:
            TraceError: it is something else.
        """
        found = WHOLE_NUMBER.fullmatch(text)
        number = int(found[1]) if found and len(text) < 20 else -1
        if not 0 <= number < 2**31:
            raise self._lines.error(
                line, f"{column} is {text[:60]!r}, but it must be a whole number of tokens from 0 to {2**31 - 1}"
            )
        return number

    @property
    def notices(self) -> tuple[str, ...]:
        """A sentence about columns that were not asked for, if there are any."""
        return (f"Unknown columns were ignored: {', '.join(self._unknown)}.",) if self._unknown else ()
