"""`python -m sim trace check`."""

from pathlib import Path
from typing import Annotated, Any

import typer

from sim.clean_exit import clean_exit
from sim.message import tell
from sim.trace.read_options import read_settings, with_read_options


def _check(
    traces: Annotated[list[Path], typer.Argument(metavar="TRACE", help="Trace files of known formats.")],
    max_problems: Annotated[int, typer.Option(help="Stop after so many, in each file.", min=1)] = 20,
    max_model_len: Annotated[
        int | None,
        typer.Option(help="Longest prompt and output together, in tokens. [any]", show_default=False, min=1),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of what is drawn for a file that leaves something open.")] = 0,
    **options: Any,  # noqa: ANN401  # those of reading, of several types
) -> None:
    """Say what is wrong with trace files, a problem a line; exit code 2 if anything is, 0 if nothing.

    Problems are what a replay refuses, and what it would put right or leave out: rows of no length, rows out of order.
    What is odd about arrivals is no problem, but a note on stderr.
    """
    with clean_exit():
        from traces.checker import TraceChecker

        settings, format = read_settings(options, seed)
        checker = TraceChecker(settings, max_problems, max_model_len)
        has_problems = False
        for path in traces:
            result = checker.check(path, format)
            has_problems = has_problems or bool(result.problems)
            for problem in result.problems:
                print(problem)
            if not result.problems:
                print(f"{path}: {result.num_requests:,} requests, no problem")
            for warning in result.warnings:
                tell("note", f"{path}: {warning}")
            if result.problems and not result.is_complete:
                print(f"{path}: there may be more, the check ended here")
        if has_problems:
            raise typer.Exit(2)


check = with_read_options(_check)
check.__name__ = "check"
