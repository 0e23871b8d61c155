"""Writes a trace that is held, with its side file."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from sim.message import Messages
from sim.trace.made_file import MadeFile
from sim.trace.trace_rows import TraceRows
from traces import Trace
from traces.row_file import RowFile


def write_held(
    trace: Trace, made: MadeFile, sources: Sequence[Path], dropped: Mapping[str, int], messages: Messages
) -> None:
    """Write a trace in the native format and tell its notices.

    Args:
        trace: what to write.
        made: where to.
        sources: files that it was made of.
        dropped: their rows that are not in it, by reason.
        messages: tell the notices.
    """
    with RowFile(made.path) as file:
        rows = TraceRows(file, trace.block_size, trace.name)
        for request in trace.requests:
            rows.add(request)
        made.finish(rows, sources, dropped, trace.notices, messages)
