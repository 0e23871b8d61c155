"""Hands over the requests of a file one after the other, holding no more of them than its format asks for."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from os import PathLike
from pathlib import Path
from typing import Protocol, TypeVar

from traces.azure import AzureRows
from traces.block_size_choice import BlockSizeChoice
from traces.burstgpt import BurstGptRows
from traces.columns import ColumnsRows
from traces.errors import TraceError, UnstreamableError
from traces.read_settings import ReadSettings
from traces.reader import blank_notice, digest_notice, read_trace
from traces.side_file import read_side_file
from traces.streamed_native import StreamedNative
from traces.streamed_recording import StreamedRecording
from traces.trace_digest import TraceDigest
from traces.trace_facts import TraceFacts
from traces.trace_file import open_trace_file
from traces.trace_format import Recognition, check_settings, given_format, recognised_format
from traces.trace_lines import TraceLines
from traces.trace_request import TraceRequest
from traces.vidur import VidurRows
from traces.window import Window

STREAMED = ("azure", "burstgpt", "columns", "native", "vidur")


class RequestSink(Protocol):
    """Takes the requests of a trace in its order."""

    def add(self, request: TraceRequest) -> object:
        """Take the next request."""


Sink = TypeVar("Sink", bound=RequestSink)


def feed(
    path: str | PathLike[str], settings: ReadSettings, format: str, begin: Callable[[int], Sink]
) -> tuple[TraceFacts, Sink]:
    """Hand over each request of a trace, in the order of the trace.

    Files of some formats are gone through row by row, so that 44 million rows need no memory, as long as they turn out
    to be in order and have no sessions that are interleaved. Any other is read whole, with the same outcome.

    Args:
        path: the file.
        settings: how it is read.
        format: name of a format, or "auto".
        begin: is given the block size and makes what takes the requests. It is called again, for a beginning from the
            first request, where it turns out on the way that the file must be held.

    Returns:
        How the file was read, and what has taken all requests.

    Raises:
        TraceError: the file or a row in it is not what it must be, or a setting is of no use for it.
    """
    path = Path(path)
    recognition = recognise(path, settings, format)
    is_whole = settings.window == Window() and settings.max_delay_s is None
    if recognition.name in STREAMED and is_whole:
        with suppress(UnstreamableError):
            return _streamed(path, settings, recognition, begin)
    trace = read_trace(path, settings, format=format)
    sink = begin(trace.block_size)
    for request in trace.requests:
        sink.add(request)
    facts = TraceFacts(
        name=trace.name,
        format=recognition.name,
        block_size=trace.block_size,
        hash_id_count=trace.hash_id_count,
        notices=trace.notices,
        dropped=trace.dropped,
        is_streamed=False,
    )
    return facts, sink


def recognise(path: Path, settings: ReadSettings, format: str) -> Recognition:
    """Return the format of a file, by its content if `format` is "auto".

    Raises:
        TraceError: it cannot be read, or is of no known format, or a setting is of no use for it.
    """
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise TraceError(
            f"{path} is a pipe or a device, but a trace is opened more than once here; save it as a file first"
        )
    format = given_format(format, settings)
    if format != "auto":
        check_settings(format, settings)
        return Recognition(format, None)
    with open_trace_file(path) as stream:
        return recognised_format(TraceLines(str(path), stream, settings.max_line_bytes))


def _streamed(
    path: Path, settings: ReadSettings, recognition: Recognition, begin: Callable[[int], Sink]
) -> tuple[TraceFacts, Sink]:
    check_settings(recognition.name, settings)
    side = read_side_file(path)
    choice = BlockSizeChoice.of(path, settings.trace_block_size, side.block_size)
    # What a side file says of a trace it says of the trace as it is by itself.
    digest = TraceDigest(side.block_size or choice.size) if side.digest is not None and not settings.time_unit else None
    sink = begin(choice.size)
    with open_trace_file(path) as stream:
        lines = TraceLines(str(path), stream, settings.max_line_bytes, settings.skipped_lines)
        lines.first()
        requests = _requests(recognition.name, lines, settings, choice)
        _pass_on(requests, sink, digest, path)
    first, *others = requests.notices
    stale = () if digest is None else digest_notice(path, side, digest.hexdigest())
    facts = TraceFacts(
        name=path.name,
        format=recognition.name,
        block_size=choice.size,
        hash_id_count=requests.hash_id_count,
        notices=(recognition.told(first), *others, *blank_notice(lines), *stale),
        dropped=dict(requests.dropped),
        is_streamed=True,
    )
    return facts, sink


def _pass_on(requests: Iterable[TraceRequest], sink: RequestSink, digest: TraceDigest | None, path: Path) -> None:
    is_empty = True
    for request in requests:
        is_empty = False
        if digest is not None:
            digest.add(request)
        sink.add(request)
    if is_empty:
        raise TraceError(f"{path} has no request with a prompt and an output")


def _requests(
    format: str, lines: TraceLines, settings: ReadSettings, block_size: BlockSizeChoice
) -> StreamedNative | StreamedRecording:
    match format:
        case "azure":
            return StreamedRecording(AzureRows(lines))
        case "burstgpt":
            return StreamedRecording(BurstGptRows(lines, settings))
        case "columns":
            return StreamedRecording(ColumnsRows(lines, settings))
        case "vidur":
            return StreamedRecording(VidurRows(lines, settings))
        case _:
            return StreamedNative(lines, settings, block_size)
