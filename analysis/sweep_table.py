"""A sweep as text."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TextIO

from rich.table import Table

from analysis.console import table_console
from analysis.load_curve import LoadCurve, Row
from analysis.outside_text import share_text

_FIGURES: tuple[tuple[str, str, Callable[[float], str]], ...] = (
    ("req/s offered", "arrivals_per_s", "{:.2f}".format),
    ("output tok/s", "output_throughput", "{:.0f}".format),
    ("TTFT p50", "median_ttft_ms", "{:.1f}".format),
    ("p99, ms", "p99_ttft_ms", "{:.1f}".format),
    ("TPOT p50", "median_tpot_ms", "{:.2f}".format),
    ("p99, ms", "p99_tpot_ms", "{:.2f}".format),
)
_SLO_FIGURES: tuple[tuple[str, str, Callable[[float], str]], ...] = (
    ("goodput req/s", "request_goodput", "{:.2f}".format),
    ("in SLO, %", "slo_attainment", lambda share: f"{100 * share:.1f}"),
)


_FINE_SHARE = 0.1
"""An overload of less need not be said to be hidden."""


def print_sweep(curves: Sequence[LoadCurve], file: TextIO) -> None:
    """Prints a row a run, then for each configuration the knee and the highest rate within the SLO.

    Args:
        curves: by configuration.
        file: where to; colour codes only if it is a terminal.
    """
    # Wide, as a table that is cut says less than one that wraps.
    console = table_console(file, 1000)
    console.print(_table(curves))
    console.print()
    for curve in curves:
        console.print(curve_sentence(curve))
    for sentence in remarks(curves):
        console.print(sentence)


def curve_sentence(curve: LoadCurve) -> str:
    """Says where the knee of a configuration is, and up to which rate it meets the SLO."""
    return f"{_name(curve)}: {_knee(curve)}{_slo(curve)}"


def _table(curves: Sequence[LoadCurve]) -> Table:
    figures = (*_FIGURES, *(_SLO_FIGURES if _has_slo(curves) else ()))
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in (*curves[0].configuration, "rate", *(title for title, _, _ in figures)):
        table.add_column(name, justify="left" if name == "policy" else "right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    for curve in curves:
        for row in curve.rows:
            values = (*curve.configuration.values(), f"{row['rate_scale']:.12g}")
            cells = [_cell(row[key], write) for _, key, write in figures]
            table.add_row(*(_text(value) for value in values), *cells, row["verdict"])
    return table


def _cell(value: float | None, write: Callable[[float], str]) -> str:
    return "-" if value is None else write(value)


def _text(value: Any) -> str:  # noqa: ANN401  # a setting is of any type
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def _name(curve: LoadCurve) -> str:
    policy, *others = curve.configuration.items()
    return ", ".join([str(policy[1]), *(f"{name} {_text(value)}" for name, value in others)])


def _knee(curve: LoadCurve) -> str:
    knee = curve.knee
    if knee is None:
        return f"no knee, the lowest rate {_rate(curve.rows[0])} {_miss(curve.rows[0])}"
    if knee is curve.rows[-1]:
        return f"knee not reached, rate {_rate(knee)} is still kept up with"
    beyond = curve.rows[curve.rows.index(knee) + 1]
    what = f"{knee['output_throughput']:.0f} output tok/s"
    if beyond["verdict"] == "too short":
        return f"knee at rate {_rate(knee)} or higher, {what}, as rate {_rate(beyond)} {_miss(beyond)}"
    return f"knee at rate {_rate(knee)}, {what}"


def _miss(row: Row) -> str:
    if row["arrivals_per_s"] is None:
        return "has all requests at once"
    return "is too short to judge" if row["verdict"] == "too short" else "is not kept up with"


def _slo(curve: LoadCurve) -> str:
    if not _has_slo([curve]):
        return "."
    best, missed = curve.highest_in_slo, curve.lowest_outside_slo
    if best is None:
        return f"; misses the SLO from the lowest rate {_rate(curve.rows[0])} on."
    if missed is None:
        return f"; meets the SLO at every rate up to {_rate(best)}."
    return f"; meets the SLO up to rate {_rate(best)}, misses it at {missed['rate_scale']:.12g}."


def _rate(row: Row) -> str:
    per_s = row["arrivals_per_s"]
    return f"{row['rate_scale']:.12g}" + ("" if per_s is None else f" ({per_s:.3g} req/s)")


def _outside_share(curve: LoadCurve) -> float:
    return max(row["outside_share"] or 0.0 for row in curve.rows)


def _has_slo(curves: Sequence[LoadCurve]) -> bool:
    return any(row["slo_attainment"] is not None for curve in curves for row in curve.rows)


def _step_times(curves: Sequence[LoadCurve]) -> Iterator[str]:
    """That rows rest on step times of several kinds, whose differences are no difference of the settings."""
    kinds: dict[str, list[str]] = {}
    for curve in curves:
        for kind in sorted({str(row["cost_model"]) for row in curve.rows if row["cost_model"]}):
            kinds.setdefault(kind, []).append(_name(curve))
    if len(kinds) > 1:
        named = "; ".join(f"{kind}: {', '.join(names)}" for kind, names in sorted(kinds.items()))
        yield f"Step times are of several kinds, so rows of one are not comparable with those of another. {named}."


def remarks(curves: Sequence[LoadCurve]) -> Iterator[str]:
    """Yields sentences that say how to read a sweep; there is at least one curve."""
    yield "Knee: highest rate at which the engine keeps up, by its verdict, while requests arrive."
    hidden = max((curve.smallest_overload or 0.0 for curve in curves), default=0.0)
    if hidden > _FINE_SHARE:
        yield (
            f"So short a trace can hide an overload of {min(hidden, 1.0):.0%} of the requests; a longer one places "
            "the knee more finely."
        )
    if _has_slo(curves):
        yield f"SLO met: at least {100 * curves[0].attainment:.4g}% of the requests that arrived meet every limit."
    yield from _step_times(curves)
    closed = max(row["closed_request_share"] or 0.0 for curve in curves for row in curve.rows)
    outside = max(curves, key=_outside_share)
    if _outside_share(outside) > 0:
        yield (
            f"Up to {share_text(_outside_share(outside))} of the steps lie outside what the cost model was fitted to "
            f"({_name(outside)})."
        )
    if closed > 0:
        yield (
            f"{closed:.0%} of the requests wait for the answer before them (closed loop): they come later to a slow "
            "engine, so the knee comes late."
        )
