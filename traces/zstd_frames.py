"""Decompressed bytes of a zstd file."""

import io
from typing import BinaryIO

import zstandard

# A zstd block of 4 bytes can stand for 128 KiB, so this many compressed bytes become 32 MiB at the very most.
READ_BYTES = 1024


class ZstdFrames(io.RawIOBase):
    """A stream over the frames of a zstd file that knows when the file was cut off.

    The library's own stream reader ends quietly there, and a trace would lose its last rows.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._frame: zstandard.ZstdDecompressionObj | None = None
        self._compressed = b""
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # typeshed's Buffer has no len()
        """Fill the front of `buffer`; return the number of bytes, 0 at the end.

        Raises:
            EOFError: the file ends inside a frame.
            zstandard.ZstdError: the file is damaged.
        """
        while not self._ready and self._advance():
            pass
        size = min(len(buffer), len(self._ready))
        buffer[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size

    def _advance(self) -> bool:
        """Decompress a little more; return False at the end of the file."""
        chunk = self._compressed or self._file.read(READ_BYTES)
        if not chunk:
            if self._frame is not None:
                raise EOFError("it ends inside a zstd frame")
            return False
        frame = self._frame or zstandard.ZstdDecompressor().decompressobj()
        self._ready = memoryview(frame.decompress(chunk))
        self._frame, self._compressed = (None, frame.unused_data) if frame.eof else (frame, b"")
        return True
