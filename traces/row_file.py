"""A trace file that comes into being line by line."""

import gzip
import io
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

import zstandard

from traces.errors import TraceError
from traces.whole_file import draft_path


class RowFile:
    """Writes beside the place where the file shall be, and puts it there as a whole at the end.

    A name that ends in `.zst` or `.gz` is compressed; the same lines give the same bytes every time. Nothing is left
    if the writing fails.

    Args:
        path: where the file shall be; what is there is replaced.

    Raises:
        TraceError: it cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._draft = draft_path(path)
        try:
            self._file = self._draft.open("wb")
        except OSError as error:
            raise TraceError(f"{path} cannot be written: {error.strerror}") from error
        self._stream = _compressing(self._file, path)

    def __enter__(self) -> "RowFile":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        # A stream that is left open would write its end when it is thrown away.
        with suppress(OSError):
            self._end_stream()
            self._file.close()
        self._draft.unlink(missing_ok=True)

    def restart(self) -> None:
        """Forget all lines.

        Raises:
            TraceError: it cannot be written.
        """
        try:
            self._end_stream()
            self._file.seek(0)
            self._file.truncate()
        except OSError as error:
            raise self._failed(error) from error
        self._stream = _compressing(self._file, self._path)

    def write(self, line: bytes) -> None:
        """Add a line.

        Raises:
            TraceError: it cannot be written.
        """
        try:
            self._stream.write(line)
        except OSError as error:
            raise self._failed(error) from error

    def commit(self) -> None:
        """Put the file into its place.

        Raises:
            TraceError: it cannot be written.
        """
        try:
            self._end_stream()
            self._file.close()
            self._draft.replace(self._path)
        except OSError as error:
            raise self._failed(error) from error

    def _failed(self, error: OSError) -> TraceError:
        return TraceError(f"{self._path} cannot be written: {error.strerror or error}")

    def _end_stream(self) -> None:
        if self._stream is not self._file and not self._stream.closed:
            self._stream.close()


def _compressing(file: BinaryIO, path: Path) -> BinaryIO | io.BufferedIOBase | zstandard.ZstdCompressionWriter:
    match path.suffix:
        case ".zst":
            return zstandard.ZstdCompressor().stream_writer(file, closefd=False)
        case ".gz":
            return gzip.GzipFile("", "wb", fileobj=file, mtime=0)
        case _:
            return file
