"""Writes a trace that is held, with its side file."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from sim.message import Messages
from sim.trace.made_file import MadeFile, Making
from sim.trace.trace_conversion import TraceConversion, pass_through
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
    with RowFile(made.path) as rows:
        conversion = TraceConversion(rows, trace.name, "native", ())
        pass_through(trace, conversion)
        conversion.finish()
    made.describe(
        Making(
            block_size=trace.block_size,
            digest=conversion.digest.hexdigest(),
            counts=conversion.counts,
            sources=sources,
            dropped=dropped,
            notices=trace.notices,
        )
    )
    for notice in (*trace.notices, made.told):
        messages.note(notice)
