"""The lines of a trace file."""

import codecs
import io
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from itertools import chain, count

from traces.errors import TraceError
from traces.trace_file import READ_ERRORS


class TraceLines:
    """The lines that are not blank, each with its number in the file from 1, to be gone through once.

    Line ends (LF or CRLF), surrounding white space and a UTF-8 byte order mark are taken off.

    Args:
        path: name of the file in errors.
        stream: its bytes, decompressed.
        max_line_bytes: length from which on a line is refused; no more than this is ever held.
        skipped_lines: numbers of lines that are left out.
    """

    def __init__(
        self, path: str, stream: io.BufferedIOBase, max_line_bytes: int, skipped_lines: Collection[int] = ()
    ) -> None:
        self.path = path
        self.num_blank = 0
        self._stream = stream
        self._max_line_bytes = max_line_bytes
        self._skipped_lines = skipped_lines
        self._lines = self._read()

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        return self._lines

    def first(self) -> tuple[int, bytes]:
        """Return the first line without going past it.

        Raises:
            TraceError: the file has no line that is not blank.
        """
        first = next(self._lines, None)
        if first is None:
            raise TraceError(f"{self.path} is empty, but a trace has at least one request")
        self._lines = chain([first], self._lines)
        return first

    @contextmanager
    def looking_ahead(self) -> Iterator[None]:
        """Give all lines back, at the end, that were taken inside."""
        taken: list[tuple[int, bytes]] = []
        rest = self._lines
        self._lines = _noting(rest, taken)
        try:
            yield
        finally:
            self._lines = chain(taken, rest)

    def error(self, line: int, sentence: str) -> TraceError:
        """Return an error that names file and line; the sentence goes without a full stop."""
        return TraceError(f"{self.path} line {line}: {sentence}", line)

    def _read(self) -> Iterator[tuple[int, bytes]]:
        readline, max_bytes = self._stream.readline, self._max_line_bytes
        for number in count(1):
            try:
                line = readline(max_bytes + 1)
            except READ_ERRORS as error:
                raise self.error(number, f"the file is damaged or cut off ({error})") from error
            if not line:
                return
            if len(line) > max_bytes:
                raise self.error(number, f"longer than {max_bytes:,} bytes; put each request on a line of its own")
            if number == 1:
                line = self._checked_first(line)
            line = line.strip()
            if number in self._skipped_lines:
                continue
            if line:
                yield number, line
            else:
                self.num_blank += 1

    def _checked_first(self, line: bytes) -> bytes:
        if line.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            raise self.error(1, "the file is UTF-16, but a trace is UTF-8; save it as UTF-8")
        if b"\r" in line.strip():
            raise self.error(1, "lines end in CR alone, but they must end in LF or CRLF; save it with one of these")
        return line.removeprefix(codecs.BOM_UTF8)


def _noting(lines: Iterator[tuple[int, bytes]], taken: list[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
    for line in lines:
        taken.append(line)
        yield line
