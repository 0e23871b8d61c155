"""Sentences for the user beside a command's result."""

import shutil
import sys
import textwrap
from typing import Literal


def tell(kind: Literal["note", "error"], sentence: str) -> None:
    """Prints a sentence on stderr.

    On a terminal it is wrapped to its width or 80 columns, whatever is less; elsewhere it is one line, to search for.
    """
    text = f"{kind}: {sentence}"
    if sys.stderr.isatty():
        width = min(80, shutil.get_terminal_size().columns)
        indent = " " * len(f"{kind}: ")
        text = textwrap.fill(text, width, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False)
    print(text, file=sys.stderr)
