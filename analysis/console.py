"""Where tables are printed."""

import os
from typing import Literal, TextIO

from rich.console import Console


def table_console(file: TextIO, width: int | None = None) -> Console:
    """Makes a console for tables: styles only on a terminal, or where FORCE_COLOR asks for them, none under NO_COLOR.

    Args:
        file: where to print.
        width: columns of a table that a narrow terminal should wrap rather than cut; None takes the terminal's.
    """
    # Rich leaves bold text under NO_COLOR, and that is an escape code too.
    system: Literal["auto"] | None = None if os.environ.get("NO_COLOR") else "auto"
    is_wrapped = width is not None
    return Console(file=file, highlight=False, markup=False, soft_wrap=is_wrapped, width=width, color_system=system)
