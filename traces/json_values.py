"""The JSON objects of a file, one a line or laid out over several."""

import re
from collections.abc import Iterator

from traces.trace_lines import TraceLines

# A line holds whole strings, since JSON has no line end inside one; what stands in them is no bracket.
TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*+"?|[\[\]{}]')
BETWEEN = b" \t,"


class JsonValues:
    """Goes through JSON lines, one object after another, or one array of objects, however they are laid out.

    Args:
        lines: the file.
        max_bytes: length from which on an object is refused.
    """

    def __init__(self, lines: TraceLines, max_bytes: int) -> None:
        self._lines = lines
        self._max_bytes = max_bytes
        self._depth = 0  # brackets open, that of the list aside
        self._is_list = False
        self._is_begun = False
        self._first_line = 0
        self._pieces: list[bytes] = []
        self._num_bytes = 0

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        """Yield each object with the line in which it begins.

        Raises:
            TraceError: something else stands between objects, one is too long, or the file ends inside one.
        """
        line = 0
        for line, content in self._lines:
            yield from self._objects(line, content)
        if self._depth:
            raise self._lines.error(line, f"the file ends inside the object that begins in line {self._first_line}")
        if self._is_list:
            raise self._lines.error(line, "the file ends inside its list of objects; it is cut off")

    def _objects(self, line: int, content: bytes) -> Iterator[tuple[int, bytes]]:
        start = 0
        for token in TOKEN.finditer(content):
            bracket = token[0]
            if bracket.startswith(b'"'):
                continue
            if self._depth == 0:
                self._check_between(line, content[start : token.start()])
                start = token.start() + (bracket != b"{")
                self._begin(line, bracket)
            elif bracket in b"{[":
                self._depth += 1
            else:
                self._depth -= 1
                if self._depth == 0:
                    yield self._first_line, self._taken(line, content[start : token.end()])
                    start = token.end()
        if self._depth:
            self._check_length(line, len(content) - start)
            self._pieces.append(content[start:])
        else:
            self._check_between(line, content[start:])

    def _begin(self, line: int, bracket: bytes) -> None:
        """Take a bracket that stands between objects."""
        match bracket:
            case b"{":
                self._depth, self._first_line = 1, line
            case b"[" if not self._is_begun:
                self._is_list = True
            case b"]" if self._is_list:
                self._is_list = False
            case _:
                raise self._lines.error(line, f"{bracket.decode()!r} stands where a JSON object must begin")
        self._is_begun = True

    def _taken(self, line: int, piece: bytes) -> bytes:
        self._check_length(line, len(piece))
        value = b"\n".join((*self._pieces, piece))
        self._pieces, self._num_bytes = [], 0
        return value

    def _check_length(self, line: int, num_bytes: int) -> None:
        self._num_bytes += num_bytes
        if self._num_bytes > self._max_bytes:
            raise self._lines.error(
                line, f"the object that begins in line {self._first_line} is longer than {self._max_bytes:,} bytes"
            )

    def _check_between(self, line: int, content: bytes) -> None:
        rest = content.strip(BETWEEN)
        if rest:
            text = rest[:60].decode(errors="replace")
            raise self._lines.error(line, f"{text!r} stands where a JSON object must begin")
