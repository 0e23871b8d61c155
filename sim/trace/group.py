"""The commands of `python -m sim trace`."""

import typer

from sim.grouped_help import TraceCommandsHelp, TraceHelp
from sim.trace.check_command import check
from sim.trace.convert_command import convert
from sim.trace.generate_command import generate
from sim.trace.info_command import info
from sim.trace.merge_command import merge
from sim.trace.scale_command import scale

trace_app = typer.Typer(
    cls=TraceCommandsHelp,
    help="Look at request traces, check them, and make others.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for command in (info, check, convert, generate, merge, scale):
    trace_app.command(cls=TraceHelp)(command)
