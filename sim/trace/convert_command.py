"""`python -m sim trace convert`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sim.clean_exit import clean_exit
from sim.message import Messages, Quiet
from sim.trace.making_options import Drop, Force, OutputArgument, Seed, To
from sim.trace.read_options import read_settings, with_read_options

if TYPE_CHECKING:
    from traces.tie_spread import TieSpread


def _convert(
    ctx: typer.Context,
    trace: Annotated[Path, typer.Argument(metavar="IN", help="Trace file of a known format; gzip and zstd too.")],
    output: OutputArgument,
    to: To = "native",
    drop: Drop = None,
    spread_ties: Annotated[
        str | None,
        typer.Option(
            help="Spread arrivals of equal times: even or uniform (drawn). [leave them]",
            show_default=False,
        ),
    ] = None,
    tie_resolution: Annotated[
        str | None,
        typer.Option(
            help="Over how long, such as 1s. [the shortest distance between different arrivals]", show_default=False
        ),
    ] = None,
    seed: Seed = 0,
    force: Force = False,
    quiet: Quiet = False,
    **options: Any,  # noqa: ANN401  # those of reading, of several types
) -> None:
    """Write a trace of any known format as native JSON lines, or as Mooncake's.

    Long files go through row by row where their format and order allow it, so 44 million rows need no memory.
    """
    with clean_exit():
        from sim.trace.made_file import MadeFile
        from sim.trace.trace_rows import TraceRows
        from sim.trace.trace_sources import source_files
        from traces.feed import feed, recognise
        from traces.reader import read_trace
        from traces.row_file import RowFile

        settings, format = read_settings(options, seed)
        spread = _spread(spread_ties, tie_resolution, seed)
        made, messages = MadeFile(output, ctx, force), Messages(quiet=quiet)
        sources = source_files(trace, settings, recognise(trace, settings, format).name)
        with RowFile(output) as file:

            def begin(block_size: int) -> TraceRows:
                return TraceRows(file, block_size, str(trace), to, drop or ())

            if spread is None:
                facts, rows = feed(trace, settings, format, begin)
                made.finish(rows, sources, facts.dropped, facts.notices, messages)
            else:
                held = spread.apply(read_trace(trace, settings, format=format))
                rows = begin(held.block_size)
                for request in held.requests:
                    rows.add(request)
                made.finish(rows, sources, held.dropped, held.notices, messages)


convert = with_read_options(_convert)
convert.__name__ = "convert"


def _spread(rule: str | None, resolution: str | None, seed: int) -> "TieSpread | None":
    from sim.errors import SimError
    from sim.setting_sources import seconds
    from traces.tie_spread import TieSpread

    if rule is None:
        if resolution is not None:
            raise SimError(f"--tie-resolution is {resolution}, but no ties are spread; give --spread-ties too.")
        return None
    return TieSpread(rule, None if resolution is None else seconds(resolution, "tie-resolution"), seed)
