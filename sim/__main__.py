"""The command line: `python -m sim`, or `twinserve`."""

import io
import sys

import typer

from sim.analysis_commands import add_analysis_commands
from sim.calibrate_command import calibrate
from sim.completion import refuse_for_module
from sim.explain_command import explain
from sim.flag_synonyms import CommandWithSynonyms
from sim.grouped_help import CommandsHelp, ReplayHelp, SweepHelp
from sim.profile_command import profile
from sim.replay_command import replay
from sim.sweep_command import sweep
from sim.trace.group import trace_app
from sim.verify_command import verify
from sim.version_option import program

_HELP = "Replay request traces on a serving engine, real or modelled."
app = typer.Typer(
    cls=CommandsHelp,
    help=_HELP,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    add_completion=True,
    epilog="Each command has a --help of its own. Completion is for the command twinserve, which is this program too.",
)
app.callback(help=_HELP)(program)
app.command(cls=ReplayHelp)(replay)
app.command("sweep", cls=SweepHelp)(sweep)
app.command(cls=CommandWithSynonyms)(explain)
app.command(cls=CommandWithSynonyms)(profile)
app.command()(calibrate)
app.command()(verify)
app.add_typer(trace_app, name="trace")
add_analysis_commands(app)


def main() -> None:
    """Entry point of the console script."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # names in a trace may hold what the terminal cannot show
    app()


if __name__ == "__main__":
    refuse_for_module(sys.argv[1:])
    main()
