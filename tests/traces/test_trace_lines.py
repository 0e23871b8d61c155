import codecs
import io
from pathlib import Path

import pytest

from tests.traces.conftest import TraceFile
from traces import ReadSettings, TraceError, read_trace
from traces.trace_lines import TraceLines

ROW = '{"timestamp": 0, "input_length": 3, "output_length": 2}'


def error_of(path: Path, max_line_bytes: int = 2**24) -> str:
    with pytest.raises(TraceError) as caught:
        read_trace(path, ReadSettings(max_line_bytes=max_line_bytes))
    return str(caught.value)


@pytest.mark.parametrize(
    "content",
    [
        f"{ROW}\n{ROW}\n".encode(),
        f"{ROW}\n{ROW}".encode(),
        f"{ROW}\r\n{ROW}\r\n".encode(),
        f"{ROW}\r\n{ROW}".encode(),
        codecs.BOM_UTF8 + f"{ROW}\n{ROW}\n".encode(),
        codecs.BOM_UTF8 + f"{ROW}\r\n  {ROW}\t".encode(),
    ],
)
def test_line_ends_and_a_byte_order_mark_change_nothing(trace_file: TraceFile, content: bytes) -> None:
    trace = read_trace(trace_file(content))
    assert [(request.input_length, request.line) for request in trace.requests] == [(3, 1), (3, 2)]


def test_a_byte_order_mark_alone_is_an_empty_file(trace_file: TraceFile) -> None:
    path = trace_file(codecs.BOM_UTF8 + b"\n")
    assert error_of(path) == f"{path} is empty, but a trace has at least one request"


@pytest.mark.parametrize("content", ["", "\n", " \n\r\n\n"])
def test_a_file_without_rows_is_empty(trace_file: TraceFile, content: str) -> None:
    path = trace_file(content)
    assert error_of(path) == f"{path} is empty, but a trace has at least one request"


@pytest.mark.parametrize("mark", [codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE])
def test_utf16_is_refused_by_name(trace_file: TraceFile, mark: bytes) -> None:
    path = trace_file(mark + ROW.encode("utf-16-le"))
    assert error_of(path) == f"{path} line 1: the file is UTF-16, but a trace is UTF-8; save it as UTF-8"


def test_lines_that_end_in_cr_alone_are_refused(trace_file: TraceFile) -> None:
    path = trace_file(f"{ROW}\r{ROW}\r")
    assert error_of(path).startswith(f"{path} line 1: lines end in CR alone, but they must end in LF or CRLF")


def test_a_line_is_refused_from_its_limit_on(trace_file: TraceFile) -> None:
    path = trace_file(f"{ROW}\n{ROW[:-1]}{' ' * 100}}}\n")
    assert read_trace(path, ReadSettings(max_line_bytes=len(ROW) + 101)).num_requests == 2
    assert error_of(path, len(ROW) + 100).startswith(f"{path} line 2: longer than {len(ROW) + 100} bytes; put each")


class EndlessLine(io.BufferedIOBase):
    """A line that never ends; keeps account of how much of it was asked for."""

    num_bytes = 0

    def readline(self, size: int | None = -1, /) -> bytes:
        assert size is not None
        assert size >= 0
        self.num_bytes += size
        return b"x" * size


def test_no_more_than_the_limit_is_ever_read() -> None:
    stream = EndlessLine()
    with pytest.raises(TraceError, match=r"t\.jsonl line 1: longer than 1,000 bytes"):
        TraceLines("t.jsonl", stream, 1000).first()
    assert stream.num_bytes == 1001


def test_the_first_line_can_be_looked_at_before_going_through_all() -> None:
    lines = TraceLines("t", io.BytesIO(b"a\n\nb"), 100)
    assert lines.first() == (1, b"a")
    assert list(lines) == [(1, b"a"), (3, b"b")]
    assert lines.num_blank == 1
