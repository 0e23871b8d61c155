"""The runs of a sweep as cells of a table."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from analysis.load_curve import LoadCurve
from analysis.reporting.sweep_subject import SweepSubject

Cell = Callable[[dict[str, Any]], str]


def _number(key: str, decimals: int, scale: float = 1) -> Cell:
    def text(row: dict[str, Any]) -> str:
        return "-" if row[key] is None else f"{scale * row[key]:,.{decimals}f}"

    return text


def _marks(row: dict[str, Any]) -> str:
    marks = ("knee" if row["is_knee"] else "", "highest in SLO" if row["is_highest_in_slo"] else "")
    return ", ".join(filter(None, marks))


SWEEP_COLUMNS: Sequence[tuple[str, Cell]] = (
    ("verdict", lambda row: str(row["verdict"])),
    ("rate", lambda row: f"{row['rate_scale']:.12g}"),
    ("req/s offered", _number("arrivals_per_s", 2)),
    ("output tok/s", _number("output_throughput", 0)),
    ("TTFT p50 (ms)", _number("median_ttft_ms", 1)),
    ("TTFT p99 (ms)", _number("p99_ttft_ms", 1)),
    ("TPOT p50 (ms)", _number("median_tpot_ms", 2)),
    ("TPOT p99 (ms)", _number("p99_tpot_ms", 2)),
    ("goodput (req/s)", _number("request_goodput", 2)),
    ("in SLO (%)", _number("slo_attainment", 1, 100)),
    ("mark", _marks),
)
"""What a reader looks for first comes first: a narrow window shows no more than the first columns."""


def sweep_verdicts(sweep: SweepSubject) -> Iterator[str]:
    """Yields the verdict of each run in a sentence, in the order of `sweep_cells`."""
    for curve in sweep.curves:
        for row in curve.rows:
            verdict = (sweep.runs[row["run"]].summary or {}).get("verdict") or {}
            yield str(verdict.get("text", row["verdict"]))


def sweep_cells(sweep: SweepSubject) -> Iterator[list[str]]:
    """Yields the cells of each run, its configuration first."""
    for name, curve in zip(sweep.names, sweep.curves, strict=True):
        yield from _curve_cells(name, curve)


def _curve_cells(name: str, curve: LoadCurve) -> Iterator[list[str]]:
    for row in curve.judged():
        yield [name, *(cell(row) for _, cell in SWEEP_COLUMNS)]
