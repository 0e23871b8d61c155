"""Reads a trace from a file of any known format."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from types import MappingProxyType

from traces.azure import read_azure
from traces.bailian import read_bailian
from traces.block_size_choice import BlockSizeChoice
from traces.burstgpt import read_burstgpt
from traces.columns import read_columns
from traces.delay_cap import cap_delays
from traces.errors import TraceError
from traces.hash_id_count import hash_id_count
from traces.llmservingsim import read_llmservingsim
from traces.load_notice import load_notice
from traces.native import read_native
from traces.parsed_rows import ParsedRows, sorted_notice
from traces.read_settings import ReadSettings
from traces.request_order import in_order
from traces.servegen import read_servegen
from traces.sharegpt import read_sharegpt
from traces.side_file import SideFile, read_side_file, side_file_path
from traces.trace import Trace
from traces.trace_file import open_trace_file
from traces.trace_format import Recognition, check_settings, given_format, recognised_format
from traces.trace_lines import TraceLines
from traces.trace_request import TraceRequest
from traces.tracelab import read_tracelab
from traces.tracelab_replay import read_tracelab_replay
from traces.vidur import read_vidur
from traces.weka import read_weka
from traces.window import Window

READERS: Mapping[str, Callable[[TraceLines, ReadSettings], ParsedRows]] = MappingProxyType(
    {
        "azure": read_azure,
        "bailian": read_bailian,
        "burstgpt": read_burstgpt,
        "columns": read_columns,
        "llmservingsim": read_llmservingsim,
        "native": read_native,
        "servegen": read_servegen,
        "sharegpt": read_sharegpt,
        "tracelab": read_tracelab,
        "tracelab-replay": read_tracelab_replay,
        "vidur": read_vidur,
        "weka": read_weka,
    }
)


def read_trace(
    path: str | PathLike[str],
    settings: ReadSettings | None = None,
    *,
    format: str = "auto",
    trace_block_size: int | None = None,
) -> Trace:
    """Read a trace, plain, gzip or zstd.

    Whatever is decided, sorted or dropped on the way is in the trace's `notices`.

    Args:
        path: the file. Beside it may lie a side file, `NAME.meta.json`, that states the `block_size` of its hash_ids.
        settings: what is left open by the file, and which part of it is wanted.
        format: one of `FORMAT_NAMES`, or "auto", which looks at the beginning of the file.
        trace_block_size: the one in `settings`, for short; before the side file, that before what the format or file
            says, and that before 512.

    Raises:
        TraceError: the file or a row in it is not what it must be, or a setting is of no use for it.
    """
    path = Path(path)
    settings = settings or ReadSettings()
    if trace_block_size is not None:
        settings = replace(settings, trace_block_size=trace_block_size)
    format = given_format(format, settings)
    if format != "auto":
        check_settings(format, settings)
    with open_trace_file(path) as stream:
        side = read_side_file(path)
        lines = TraceLines(str(path), stream, settings.max_line_bytes, settings.skipped_lines)
        rows = _read(format, lines, replace(settings, trace_block_size=settings.trace_block_size or side.block_size))
    _check_ids(path, rows.requests)
    requests, cut = cap_delays(rows.requests, settings.max_delay_s)
    notices = (*rows.notices, *cut, *blank_notice(lines))
    if rows.num_usable is None:  # else the format has looked at the order of its rows itself
        notices += _order_notices(requests)
    choice = BlockSizeChoice.of(path, settings.trace_block_size, side.block_size, rows.block_size)
    rule = hash_id_count(requests, choice.size, str(path))
    notices += choice.notice(rule, sum(request.hash_ids is None for request in requests))
    trace = Trace(
        name=path.name, requests=in_order(requests), block_size=choice.size, notices=notices, dropped=rows.dropped
    )
    if side.digest is not None and rows.num_usable is None and settings.time_unit is None and not cut:
        digest = replace(trace, block_size=side.block_size or trace.block_size).digest
        trace = replace(trace, notices=(*notices, *digest_notice(path, side, digest)))
    return _windowed(trace, settings.window, rows.num_usable)


def blank_notice(lines: TraceLines) -> tuple[str, ...]:
    """Return a sentence about blank lines, once all were read; nothing if there were none."""
    return (f"{lines.num_blank} blank lines were skipped.",) if lines.num_blank else ()


def digest_notice(path: Path, side: SideFile, digest: str) -> tuple[str, ...]:
    """Return a sentence if the side file tells of another content than the file has.

    Args:
        path: the trace file.
        side: what its side file states.
        digest: of the content, as the side file would state it.
    """
    if side.digest in (None, digest):
        return ()
    return (
        f"{side_file_path(path).name} tells of another content of {path.name}: it states digest {side.digest}, but the "
        f"file has {digest}, so it was changed since; what the side file says of its making may not hold.",
    )


def _read(format: str, lines: TraceLines, settings: ReadSettings) -> ParsedRows:
    lines.first()  # an empty file is the same error in every format
    recognition = Recognition(format, None)
    if format == "auto":
        recognition = recognised_format(lines)
        check_settings(recognition.name, settings)
    rows = READERS[recognition.name](lines, settings)
    first, *others = rows.notices
    return replace(rows, notices=(recognition.told(first), *load_notice(rows.requests), *others))


def _windowed(trace: Trace, window: Window, num_usable: int | None) -> Trace:
    """Cut a trace to its window, or say that its format has done so while reading."""
    if window == Window():
        return trace
    if num_usable is None:
        return trace.window(window.start_s, window.end_s, window.limit)
    origin = "" if window.start_s is None else f"; times count from {window.start_s:.10g} s on"
    notice = f"Window ({window}), applied while reading: {trace.num_requests} of {num_usable} requests kept{origin}."
    return replace(trace, notices=(*trace.notices, notice))


def _check_ids(path: Path, requests: Sequence[TraceRequest]) -> None:
    if not requests:
        raise TraceError(f"{path} has no request with a prompt and an output")
    lines: dict[str, int] = {}
    for request in requests:
        first_line = lines.setdefault(request.request_id, request.line)
        if first_line != request.line:
            raise TraceError(
                f"{path} line {request.line}: request_id is {request.request_id!r}, which line {first_line} has too; "
                "each request needs its own (a row without one is r0, r1, ... by its position)",
                request.line,
            )


def _order_notices(requests: Sequence[TraceRequest]) -> tuple[str, ...]:
    latest_s, late_lines = 0.0, []
    for request in requests:
        if request.arrival_s is not None:
            if request.arrival_s < latest_s:
                late_lines.append(request.line)
            latest_s = max(latest_s, request.arrival_s)
    return sorted_notice(len(late_lines), late_lines[0] if late_lines else None)
