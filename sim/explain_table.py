"""The terms of a step's time, for a person or a program."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from backends.simulated import Term

_HEADINGS = ("term", "count", "GFLOP", "MB", "ms", "%", "limited by")


def explain_table(terms: "Sequence[Term]", title: str, file: TextIO) -> None:
    """Prints plain columns, which a narrow terminal wraps but does not cut.

    Args:
        terms: of the cost model; those that take no time and stand for nothing are left out. Where none has FLOPs or
            bytes, as in a calibration, none is shown.
        title: what was explained.
        file: where to.
    """
    from rich.table import Table

    from analysis.console import table_console

    total_s, is_counted = sum(term.time_s for term in terms), any(term.flops or term.num_bytes for term in terms)
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0))
    for name in _HEADINGS:
        table.add_column(name, justify="left" if name in ("term", "limited by") else "right", no_wrap=True)
    for term in terms:
        if term.time_s or term.count:
            work = (f"{term.flops / 1e9:,.2f}", f"{term.num_bytes / 1e6:,.2f}") if is_counted else ("-", "-")
            table.add_row(
                term.name,
                f"{term.count:.12g}",
                *work,
                _ms(term.time_s),
                f"{100 * term.time_s / total_s:.1f}",
                term.limited_by,
            )
    table.add_row("step", "", "", "", _ms(total_s), "100.0", "")
    # As wide as it needs: a table that is made narrower drops letters.
    console = table_console(file, table_console(file, 1000).measure(table).maximum)
    console.print(title, style="bold")
    console.print(table)


def explain_json(terms: "Sequence[Term]", title: str, graph_size: int | None) -> str:
    """The same as JSON, times in seconds."""
    step = {"title": title, "graph_size": graph_size, "time_s": sum(term.time_s for term in terms)}
    return json.dumps(step | {"terms": [asdict(term) for term in terms]}, indent=2)


def _ms(time_s: float) -> str:
    return f"{1000 * time_s:,.4f}"
