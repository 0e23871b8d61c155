"""The commands of `python -m analysis` as commands of `twinserve` too, so that one program does all."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import typer

from analysis.__main__ import app as analysis_app
from sim.clean_exit import clean_exit


def add_analysis_commands(app: typer.Typer) -> None:
    """Add them to `app`."""
    for info in analysis_app.registered_commands:
        assert info.callback is not None, "a command is made of a function"
        app.command(info.name)(_ending_cleanly(info.callback))


def _ending_cleanly(command: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(command)  # typer reads the signature of what is wrapped
    def run(**arguments: Any) -> None:  # noqa: ANN401  # whatever the command takes
        with clean_exit():
            command(**arguments)

    return run
