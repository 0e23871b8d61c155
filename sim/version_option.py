"""The option `--version`."""

from typing import Annotated

import typer

from sim.versions import versions


def say_version(is_asked: bool) -> None:
    """Print the version and end, if that is asked for.

    Raises:
        typer.Exit: it is.
    """
    if is_asked:
        typer.echo(f"twinserve {versions(('twinserve',)).get('twinserve', '(a checkout that is not installed)')}")
        raise typer.Exit


Version = Annotated[bool, typer.Option("--version", callback=say_version, is_eager=True, help="Print the version.")]


def program(*, version: Version = False) -> None:
    """Options of the program itself, before any command."""
