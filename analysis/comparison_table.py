"""A comparison as text."""

from collections.abc import Callable, Iterator, Sequence
from typing import TextIO

from rich.table import Table

from analysis.comparison import Comparison
from analysis.console import table_console
from analysis.level_error import LevelError
from analysis.metric_row import MetricRow
from analysis.paired_error import PairedError
from analysis.request_errors import RequestError
from analysis.step_classes import STATISTICS, StepClassError

_ERROR_HEADINGS = ("pairs", "bias, ms", "bias, %", "mean |error|, ms", "MAPE, %", "correlation")

_WIDTH = 250


def print_comparison(comparison: Comparison, file: TextIO) -> None:
    """Prints names, warnings, tables, and a sentence on the decisions; colour codes only on a terminal.

    Args:
        comparison: what to print.
        file: where to.
    """
    # Wide enough for every table: a narrow terminal breaks lines, which is better than numbers cut short.
    console = table_console(file, _WIDTH)
    for letter, name in zip("AB", comparison.names, strict=True):
        console.print(f"{letter}: {name}")
    for warning in comparison.warnings:
        console.print(f"Warning: {warning}", style="yellow")
    for title, table in _tables(comparison):
        console.print(f"\n{title}", style="bold")
        console.print(table)
    console.print(f"\n{comparison.decisions.text}", style="bold")


def _tables(comparison: Comparison) -> Iterator[tuple[str, Table]]:
    yield "Metrics", _metrics(comparison.metrics)
    if comparison.requests:
        yield "Latencies request by request, error of B", _requests(comparison.requests)
    if comparison.steps:
        yield "Step times by class, ms: A / B", _steps(comparison.steps)
    if comparison.steps and comparison.num_matched:
        title = f"Step by step, error of B over the first {comparison.num_matched} steps, which decided alike"
        yield title, _matched_steps(comparison.steps)
    if comparison.levels:
        yield "Requests over time, idle time included", _levels(comparison.levels)


def _table(first: str, *others: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0))
    table.add_column(first, no_wrap=True)
    for name in others:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _metrics(rows: Sequence[MetricRow]) -> Table:
    has_spread = any(row.spread is not None for row in rows)
    table = _table("metric", "A", "B", "difference", "in %", *(("spread", "") if has_spread else ()))
    for row in rows:
        spread = (_number(row.spread), "noise" if row.is_noise and row.diff else "") if has_spread else ()
        table.add_row(
            row.metric, _number(row.a), _number(row.b), _signed(row.diff), _percent(row.diff_percent), *spread
        )
    return table


def _requests(errors: Sequence[RequestError]) -> Table:
    return _errors("latency", [(error.latency, error.error, error.spread) for error in errors])


def _matched_steps(errors: Sequence[StepClassError]) -> Table:
    matched = [error for error in errors if error.matched.size]
    return _errors("class", [(error.step_class.label, error.matched, error.spread) for error in matched])


def _errors(first: str, rows: Sequence[tuple[str, PairedError, PairedError | None]]) -> Table:
    has_spread = any(spread is not None for _, _, spread in rows)
    table = _table(first, *_ERROR_HEADINGS, *(("spread: bias, %", "MAPE, %") if has_spread else ()))
    for name, error, spread in rows:
        table.add_row(name, *_error(error), *(_spread(spread) if has_spread else ()))
    return table


def _spread(spread: PairedError | None) -> Iterator[str]:
    yield "-" if spread is None else _percent(spread.bias_percent)
    yield "-" if spread is None else _number(spread.mape)


def _error(error: PairedError) -> Iterator[str]:
    yield str(error.size)
    yield _signed(_ms(error.bias_s))
    yield _percent(error.bias_percent)
    yield _number(_ms(error.mean_abs_s))
    yield _number(error.mape)
    yield _number(error.correlation)


def _steps(errors: Sequence[StepClassError]) -> Table:
    table = _table("class", "steps", "share of time, %", *STATISTICS, "mean difference, %", "host, mean")
    for error in errors:
        mean = MetricRow("mean", *error.duration_ms["mean"])
        table.add_row(
            error.step_class.label,
            _pair(error.counts),
            _pair(
                tuple(None if share is None else 100 * share for share in error.shares), lambda value: f"{value:.1f}"
            ),
            *(_pair(error.duration_ms[name]) for name in STATISTICS),
            _percent(mean.diff_percent),
            _pair(error.host_ms),
        )
    return table


def _levels(errors: Sequence[LevelError]) -> Table:
    has_spread = any(error.spread is not None for error in errors)
    table = _table("level", "mean A", "mean B", "difference", "mean |difference|", *(("spread",) if has_spread else ()))
    for error in errors:
        a, b, mean_abs = error.difference
        spread = (_number(error.spread and error.spread.mean_abs),) if has_spread else ()
        table.add_row(error.level, _number(a), _number(b), _signed(b - a), _number(mean_abs), *spread)
    return table


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def _pair(values: tuple[float | None, ...], to_text: Callable[[float], str] | None = None) -> str:
    return " / ".join("-" if value is None else (to_text or _number)(value) for value in values)


def _signed(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:+.3f}" if isinstance(value, float) else f"{value:+d}"


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{value:+.2f} %"


def _ms(value_s: float | None) -> float | None:
    return None if value_s is None else 1000 * value_s
