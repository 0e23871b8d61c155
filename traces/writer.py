"""Writes a trace in the native format."""

from os import PathLike
from pathlib import Path

from traces.canonical_row import canonical_rows
from traces.errors import TraceError
from traces.hash_id_count import hash_id_count
from traces.side_file import side_file_content, side_file_path, stated_block_size
from traces.trace import DEFAULT_BLOCK_SIZE, Trace
from traces.trace_file import compressed


def write_trace(trace: Trace, path: str | PathLike[str]) -> None:
    """Write a trace so that reading the file gives an equal one.

    A name that ends in `.zst` or `.gz` is compressed. A block size that is not the default goes into the side file
    `NAME.meta.json`. Nothing is overwritten.

    Raises:
        TraceError: the file exists or cannot be written, or a side file states another block size.
    """
    path = Path(path)
    # A trace made by hand may hold counts that no reader would take.
    hash_id_count(trace.requests, trace.block_size, trace.name)
    content = b"".join(canonical_rows(trace.requests))
    side_file = _side_file(trace, path)
    _write_new(path, compressed(content, path))
    if side_file is not None:
        _write_new(side_file_path(path), side_file)


def _side_file(trace: Trace, path: Path) -> bytes | None:
    """Return the side file to write, or None where there is one, or none is needed."""
    side_path = side_file_path(path)
    stated = stated_block_size(path) or DEFAULT_BLOCK_SIZE
    if stated == trace.block_size:
        return None
    if side_path.exists():
        raise TraceError(
            f"{side_path} states a block size of {stated}, but {trace.name} has {trace.block_size}; choose another name"
        )
    return side_file_content(trace.block_size)


def _write_new(path: Path, content: bytes) -> None:
    try:
        with path.open("xb"):
            pass  # the name is ours
    except FileExistsError:
        raise TraceError(f"{path} exists already; choose another name or delete it") from None
    except OSError as error:
        raise TraceError(f"{path} cannot be written: {error.strerror}") from error
    try:
        path.write_bytes(content)
    except OSError as error:
        path.unlink()
        raise TraceError(f"{path} cannot be written: {error.strerror}") from error
