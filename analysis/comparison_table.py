"""A comparison as text."""

from typing import TextIO

from rich.console import Console
from rich.table import Table

from analysis.comparison import Comparison, MetricRow


def print_comparison(comparison: Comparison, file: TextIO) -> None:
    """Prints warnings, the table of metrics, and a sentence on the decisions; colour codes only on a terminal.

    Args:
        comparison: what to print.
        file: where to.
    """
    console = Console(file=file, highlight=False, markup=False, soft_wrap=True)
    for warning in comparison.warnings:
        console.print(f"Warning: {warning}", style="yellow")
    console.print(_table(comparison))
    console.print(comparison.decisions_text, style="bold")


def _table(comparison: Comparison) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0))
    table.add_column("metric", no_wrap=True)
    for name in ("A", "B", "difference"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in comparison.rows:
        table.add_row(row.metric, _number(row.a), _number(row.b), _difference(row))
    return table


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def _difference(row: MetricRow) -> str:
    return "-" if row.diff_percent is None else f"{row.diff_percent:+.2f} %"
