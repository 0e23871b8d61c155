"""`python -m sim trace scale`."""

from pathlib import Path
from typing import Annotated, Any

import typer

from sim.clean_exit import clean_exit
from sim.message import Messages, Quiet
from sim.trace.making_options import Force, OutputArgument, Seed
from sim.trace.read_options import read_settings, with_read_options


def _scale(
    ctx: typer.Context,
    trace: Annotated[Path, typer.Argument(metavar="IN", help="Trace file of a known format; gzip and zstd too.")],
    output: OutputArgument,
    rate_scale: Annotated[float, typer.Option(help="Factor on the request rate; delays in sessions stay.")] = 1.0,
    input_scale: Annotated[float, typer.Option(help="Factor on prompt lengths.")] = 1.0,
    output_scale: Annotated[float, typer.Option(help="Factor on output lengths.")] = 1.0,
    seed: Seed = 0,
    force: Force = False,
    quiet: Quiet = False,
    **options: Any,  # noqa: ANN401  # those of reading, of several types
) -> None:
    """Write a trace with its request rate or its lengths scaled, as native JSON lines."""
    with clean_exit():
        from sim.errors import SimError
        from sim.trace.held_trace import write_held
        from sim.trace.made_file import MadeFile
        from sim.trace.trace_sources import source_files
        from traces.feed import recognise
        from traces.length_scale import LengthScale
        from traces.reader import read_trace

        if rate_scale == input_scale == output_scale == 1:
            raise SimError("Nothing is scaled; give --rate-scale, --input-scale or --output-scale.")
        settings, format = read_settings(options, seed)
        lengths = LengthScale(input_scale, output_scale)
        made = MadeFile(output, ctx, force)
        sources = source_files(trace, settings, recognise(trace, settings, format).name)
        read = read_trace(trace, settings, format=format)
        write_held(lengths.apply(read.scaled(rate_scale)), made, sources, read.dropped, Messages(quiet=quiet))


scale = with_read_options(_scale)
scale.__name__ = "scale"
