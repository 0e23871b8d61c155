"""Sentences for the user beside a command's result."""

import shutil
import sys
import textwrap
from typing import Annotated, Literal

import typer

from sim.errors import SimError

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing on stderr but errors.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Say on stderr what was chosen, and why.")]


class Messages:
    """What a command says on stderr, as far as the user wants to hear it.

    Args:
        quiet: nothing but errors, and no progress bar.
        verbose: details too.

    Raises:
        SimError: both are asked for.
    """

    def __init__(self, *, quiet: bool = False, verbose: bool = False) -> None:
        if quiet and verbose:
            raise SimError("--quiet and --verbose say the opposite; give one of them.")
        self.is_quiet = quiet
        self.is_verbose = verbose

    def note(self, sentence: str) -> None:
        """What a user should know who did not ask."""
        if not self.is_quiet:
            tell("note", sentence)

    def detail(self, sentence: str) -> None:
        """What only a user wants to know who asks."""
        if self.is_verbose:
            tell("detail", sentence)


def tell(kind: Literal["note", "detail", "error"], sentence: str) -> None:
    """Prints a sentence on stderr.

    On a terminal it is wrapped to its width or 80 columns, whatever is less; elsewhere it is one line, to search for.
    """
    text = f"{kind}: {sentence}"
    if sys.stderr.isatty():
        width = min(80, shutil.get_terminal_size().columns)
        indent = " " * len(f"{kind}: ")
        text = textwrap.fill(text, width, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False)
    print(text, file=sys.stderr)
