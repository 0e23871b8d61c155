"""`python -m sim verify`."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from sim.clean_exit import clean_exit
from sim.message import Quiet

INTERRUPTED = 130


def verify(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Run directories, finished or not.")],
    quiet: Quiet = False,
) -> None:
    """Check that runs, replayed on their own step times, decide alike.

    Every decision and every latency must be equal, to the last bit.

    Exit code 0: identical; 1: a run differs, and the first difference was printed; 2: a run could not be replayed.
    """
    codes = [_code_of(run, with_name=len(runs) > 1, is_quiet=quiet) for run in runs]
    raise typer.Exit(max(codes))


def _code_of(path: Path, *, with_name: bool, is_quiet: bool) -> int:
    try:
        with clean_exit():
            return _verify(path, with_name=with_name, is_quiet=is_quiet)
    except typer.Exit as stop:
        if stop.exit_code == INTERRUPTED:
            raise
        return stop.exit_code


def _verify(path: Path, *, with_name: bool, is_quiet: bool) -> int:
    from analysis.run import load
    from sim.progress import progress_bar
    from sim.verification import verify as verify_run

    verification = verify_run(load(path), partial(progress_bar, is_wanted=not is_quiet))
    print(f"{path}: " * with_name + verification.render(), end="", flush=True)
    return int(verification.difference is not None)
