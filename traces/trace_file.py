"""The bytes of a trace file, plain or compressed."""

import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import zstandard

from traces.errors import TraceError
from traces.zstd_frames import ZstdFrames

GZIP_MAGIC = b"\x1f\x8b"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
READ_ERRORS = (OSError, EOFError, zlib.error, zstandard.ZstdError)
"""What reading the bytes may raise when a file is damaged or cut off."""


@contextmanager
def open_trace_file(path: Path) -> Iterator[io.BufferedIOBase]:
    """Open a trace for reading; gzip and zstd are recognised by their first bytes, whatever the name.

    Raises:
        TraceError: there is no such file, it is a directory, or it may not be read.
    """
    with ExitStack() as stack:
        file = stack.enter_context(_opened(path))
        magic = _first_bytes(file, path)
        if magic.startswith(GZIP_MAGIC):
            yield stack.enter_context(gzip.GzipFile(fileobj=file))
        elif magic.startswith(ZSTD_MAGIC):
            yield stack.enter_context(io.BufferedReader(ZstdFrames(file)))
        else:
            yield file


def _first_bytes(file: io.BufferedReader, path: Path) -> bytes:
    try:
        return file.peek(len(ZSTD_MAGIC))
    except OSError as error:
        raise TraceError(f"{path} cannot be read: {error.strerror}") from error


def _opened(path: Path) -> io.BufferedReader:
    try:
        return path.open("rb")
    except FileNotFoundError:
        raise TraceError(f"{path} does not exist") from None
    except IsADirectoryError:
        raise TraceError(f"{path} is a directory, but a trace is one file") from None
    except OSError as error:
        raise TraceError(f"{path} cannot be read: {error.strerror}") from error


def compressed(content: bytes, path: Path) -> bytes:
    """Return the bytes to store under this name: zstd for `.zst`, gzip for `.gz`, the same every time."""
    match path.suffix:
        case ".zst":
            return zstandard.ZstdCompressor().compress(content)
        case ".gz":
            return gzip.compress(content, mtime=0)
        case _:
            return content
