"""Reads a trace from a file of any known format."""

from collections.abc import Sequence
from os import PathLike
from pathlib import Path

from traces.azure2023 import read_azure2023
from traces.errors import TraceError
from traces.hash_id_count import hash_id_count
from traces.llmservingsim import read_llmservingsim
from traces.native import read_native
from traces.parsed_rows import ParsedRows
from traces.request_order import in_order
from traces.side_file import side_file_path, stated_block_size
from traces.trace import DEFAULT_BLOCK_SIZE, Trace
from traces.trace_file import open_trace_file
from traces.trace_format import recognised_format
from traces.trace_lines import TraceLines
from traces.trace_request import TraceRequest

FORMATS = ("auto", "native", "azure2023", "llmservingsim")
MAX_LINE_BYTES = 16 * 2**20


def read_trace(
    path: str | PathLike[str],
    *,
    format: str = "auto",
    trace_block_size: int | None = None,
    max_line_bytes: int = MAX_LINE_BYTES,
) -> Trace:
    """Read a trace, plain, gzip or zstd.

    Whatever is decided, sorted or dropped on the way is in the trace's `notices`.

    Args:
        path: the file. Beside it may lie a side file, `NAME.meta.json`, that states the `block_size` of its hash_ids.
        format: "native" (JSON lines with the Mooncake fields), "azure2023" (CSV), "llmservingsim" (JSON lines), or
            "auto", which looks at the first line.
        trace_block_size: prompt tokens that one of hash_ids stands for; before the side file, and that before 512.
        max_line_bytes: longest line that is read.

    Raises:
        TraceError: the file or a row in it is not what it must be.
    """
    path = Path(path)
    if format not in FORMATS:
        raise TraceError(f"trace format {format!r} is not known; known are {', '.join(FORMATS)}")
    with open_trace_file(path) as stream:
        block_size, stated_by = _block_size(path, trace_block_size)
        lines = TraceLines(str(path), stream, max_line_bytes)
        rows = _read(recognised_format(lines) if format == "auto" else format, lines)
        blanks = (f"{lines.num_blank} blank lines were skipped.",) if lines.num_blank else ()
    _check_ids(path, rows.requests)
    notices = (*rows.notices, *blanks, *_order_notices(rows.requests))
    notices += _hash_id_notices(path, rows.requests, block_size, stated_by)
    return Trace(name=path.name, requests=in_order(rows.requests), block_size=block_size, notices=notices)


def _read(format: str, lines: TraceLines) -> ParsedRows:
    lines.first()  # an empty file is the same error in every format
    match format:
        case "native":
            return read_native(lines)
        case "azure2023":
            return read_azure2023(lines)
        case "llmservingsim":
            return read_llmservingsim(lines)
    raise AssertionError(format)


def _block_size(path: Path, given: int | None) -> tuple[int, str]:
    """Return the block size and who stated it."""
    if given is not None:
        if given < 1:
            raise TraceError(f"the trace block size is {given}, but it must be at least 1 token")
        return given, "as given"
    stated = stated_block_size(path)
    if stated is not None:
        return stated, f"by {side_file_path(path).name}"
    return DEFAULT_BLOCK_SIZE, "by default"


def _check_ids(path: Path, requests: Sequence[TraceRequest]) -> None:
    if not requests:
        raise TraceError(f"{path} has no request with a prompt and an output")
    lines: dict[str, int] = {}
    for request in requests:
        first_line = lines.setdefault(request.request_id, request.line)
        if first_line != request.line:
            raise TraceError(
                f"{path} line {request.line}: request_id is {request.request_id!r}, which line {first_line} has too; "
                "each request needs its own (a row without one is r0, r1, ... by its position)"
            )


def _order_notices(requests: Sequence[TraceRequest]) -> tuple[str, ...]:
    latest_s, late_lines = 0.0, []
    for request in requests:
        if request.arrival_s is not None:
            if request.arrival_s < latest_s:
                late_lines.append(request.line)
            latest_s = max(latest_s, request.arrival_s)
    if not late_lines:
        return ()
    moved = f"{len(late_lines)} rows stood behind a later arrival (first in line {late_lines[0]})"
    return (f"Rows were sorted by arrival: {moved}.",)


def _hash_id_notices(path: Path, requests: Sequence[TraceRequest], block_size: int, stated_by: str) -> tuple[str, ...]:
    rule = hash_id_count(requests, block_size, str(path))
    if rule is None:
        return ()
    num_without = sum(request.hash_ids is None for request in requests)
    without = f"; {num_without} requests have none and share no prefix" if num_without else ""
    partial = "has an id too" if rule == "ceil" else "has none"
    return (
        f"Each of hash_ids stands for {block_size} prompt tokens ({stated_by}), counted by {rule}: "
        f"a partial last block {partial}{without}.",
    )
