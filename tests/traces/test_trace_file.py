import errno
import gzip
from pathlib import Path

import pytest
import zstandard

from tests.traces.conftest import TraceFile
from traces import ReadSettings, TraceError, read_trace

ROWS = b"".join(b'{"timestamp": %d, "input_length": 3, "output_length": 2}\n' % i for i in range(2000))


def error_of(path: Path) -> str:
    with pytest.raises(TraceError) as caught:
        read_trace(path)
    return str(caught.value)


@pytest.mark.parametrize("name", ["t.jsonl", "t.jsonl.gz", "t.jsonl.zst"])
@pytest.mark.parametrize("compress", [bytes, gzip.compress, zstandard.compress])
def test_compression_is_recognised_whatever_the_name(trace_file: TraceFile, name: str, compress: type[bytes]) -> None:
    assert read_trace(trace_file(compress(ROWS), name)).num_requests == 2000


@pytest.mark.parametrize("compress", [gzip.compress, zstandard.compress])
def test_parts_compressed_one_by_one_are_read_as_one(trace_file: TraceFile, compress: type[bytes]) -> None:
    assert read_trace(trace_file(compress(ROWS[:1000]) + compress(ROWS[1000:]))).num_requests == 2000


@pytest.mark.parametrize("compress", [gzip.compress, zstandard.compress])
@pytest.mark.parametrize("num_missing", [1, 20, 500])
def test_a_file_that_was_cut_off_is_refused(trace_file: TraceFile, compress: type[bytes], num_missing: int) -> None:
    path = trace_file(compress(ROWS)[:-num_missing])
    assert "the file is damaged or cut off" in error_of(path)


@pytest.mark.parametrize("compress", [gzip.compress, zstandard.compress])
def test_a_damaged_file_is_refused(trace_file: TraceFile, compress: type[bytes]) -> None:
    content = bytearray(compress(ROWS))
    content[20:60] = b"\xff" * 40
    assert "line 1: the file is damaged or cut off" in error_of(trace_file(bytes(content)))


def test_a_small_file_of_one_huge_line_is_refused_without_unpacking_it(trace_file: TraceFile) -> None:
    path = trace_file(zstandard.compress(b" " * 50_000_000 + b"{}"))
    with pytest.raises(TraceError, match="line 1: longer than 16,777,216 bytes"):
        read_trace(path, ReadSettings(max_line_bytes=2**24))


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    assert error_of(tmp_path / "no.jsonl") == f"{tmp_path / 'no.jsonl'} does not exist"


def test_a_directory_is_refused(tmp_path: Path) -> None:
    assert error_of(tmp_path) == f"{tmp_path} is a directory, but a trace is one file"


def test_a_path_through_a_file_is_refused(trace_file: TraceFile) -> None:
    path = trace_file(ROWS) / "deeper.jsonl"
    assert error_of(path) == f"{path} cannot be read: Not a directory"


def test_a_file_without_permission_is_refused(trace_file: TraceFile, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Path, mode: str) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(self))

    path = trace_file(ROWS)
    monkeypatch.setattr(Path, "open", refuse)  # root may open everything, so that file modes show nothing
    assert error_of(path) == f"{path} cannot be read: Permission denied"


def test_name_that_no_file_can_have_is_an_error(tmp_path: Path) -> None:
    assert error_of(tmp_path / ("x" * 300)).endswith("cannot be read: File name too long")


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="there is no file here that opens and cannot be read")
def test_file_that_opens_and_cannot_be_read_is_an_error() -> None:
    assert error_of(Path("/proc/self/mem")) == "/proc/self/mem cannot be read: Input/output error"
