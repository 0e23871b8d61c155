"""Two runs side by side."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from analysis.run import Run
from analysis.schema import EVENTS, STEPS
from analysis.summary import summarise

STATISTICS = ("mean", "p50", "p90", "p95", "p99")
LATENCIES = ("ttft", "tpot", "itl", "e2el", "queue")
TOTALS = ("completed", "failed", "request_throughput", "output_throughput", "total_token_throughput", "num_preemptions")
COMPARED_META = ("num_kv_blocks", "graph_sizes", "mixed_graph_sizes", "seed", "hardware", "versions")
_SHAPE = STEPS.names[STEPS.names.index("num_prefill_tokens") : STEPS.names.index("num_waiting")]


@dataclass(frozen=True, slots=True)
class MetricRow:
    """One metric of both runs.

    Attributes:
        metric: its key in `summary.json`.
        a: value of the first run; None if undefined.
        b: value of the second run; None if undefined.
    """

    metric: str
    a: float | None
    b: float | None

    @property
    def diff_percent(self) -> float | None:
        """Difference of b from a, in percent of a; None if undefined."""
        if self.a is None or self.b is None:
            return None
        if self.a == 0:
            return 0.0 if self.b == 0 else None
        return 100 * (self.b - self.a) / self.a


@dataclass(frozen=True, slots=True)
class Comparison:
    """What differs between two runs. Made by `compare`.

    Attributes:
        rows: metrics.
        warnings: sentences on what makes the runs hard to compare.
        decisions_equal: whether both made the same decisions; None if one is partial and they agree as far as it goes.
        first_difference: first step in which decisions differ; None if they are equal or it is not known.
    """

    rows: tuple[MetricRow, ...]
    warnings: tuple[str, ...]
    decisions_equal: bool | None
    first_difference: int | None

    @property
    def decisions_text(self) -> str:
        """One sentence on the decisions."""
        if self.decisions_equal:
            return "Decisions: equal in every step."
        if self.decisions_equal is None:
            return "Decisions: equal as far as both runs got."
        if self.first_difference is None:
            return "Decisions: they differ."
        return f"Decisions: they differ, first in step {self.first_difference}."

    def as_dict(self) -> dict[str, Any]:
        """Returns all values for JSON."""
        return {
            "metrics": [
                {"metric": row.metric, "a": row.a, "b": row.b, "diff_percent": row.diff_percent} for row in self.rows
            ],
            "warnings": list(self.warnings),
            "decisions_equal": self.decisions_equal,
            "first_difference": self.first_difference,
        }


def compare(a: Run, b: Run) -> Comparison:
    """Compares two runs; figures are computed from their tables.

    Raises:
        RunError: a table is damaged or contradicts another.
    """
    first_difference = _first_difference(a, b)
    return Comparison(
        rows=tuple(_metric_rows(summarise(a), summarise(b))),
        warnings=tuple(_warnings(a, b)),
        decisions_equal=_decisions_equal(a, b, first_difference),
        first_difference=first_difference,
    )


def _metric_rows(a: Mapping[str, Any], b: Mapping[str, Any]) -> Iterator[MetricRow]:
    for key in TOTALS:
        yield MetricRow(key, a[key], b[key])
    for latency in LATENCIES:
        for statistic in STATISTICS:
            key = f"{statistic}_{latency}_ms"
            yield MetricRow(key, a[key], b[key])


def _warnings(a: Run, b: Run) -> Iterator[str]:
    for run in (a, b):
        if not run.is_complete:
            yield f"{run.path} is partial: it was stopped before its end."
    digests = [run.meta["trace"].get("digest") for run in (a, b)]
    if digests[0] != digests[1]:
        yield f"The traces differ: digest {digests[0]} and {digests[1]}."
    for key in COMPARED_META:
        yield from _difference(key, a.meta.get(key), b.meta.get(key))
    settings_a, settings_b = a.meta["settings"], b.meta["settings"]
    for key in dict.fromkeys([*settings_a, *settings_b]):
        yield from _difference(f"setting {key}", settings_a.get(key), settings_b.get(key))


def _difference(name: str, a: object, b: object) -> Iterator[str]:
    if a != b:
        yield f"{name[0].upper()}{name[1:]} differs: {a} and {b}."


def _decisions_equal(a: Run, b: Run, first_difference: int | None) -> bool | None:
    """Digests decide if both runs have one; the tables show where the difference is."""
    digests = [(run.summary or {}).get("decision_digest") for run in (a, b)]
    if None not in digests and a.is_complete and b.is_complete:
        return bool(digests[0] == digests[1])
    if first_difference is not None:
        return False
    return True if a.is_complete and b.is_complete else None


def _first_difference(a: Run, b: Run) -> int | None:
    """First step in which events or shapes differ; of partial runs only what both have is looked at."""
    is_whole = a.is_complete and b.is_complete
    found = [
        _first_row(a.table(name, columns), b.table(name, columns), is_whole)
        for name, columns in (("steps", ["step", *_SHAPE]), ("events", EVENTS.names))
    ]
    return min((step for step in found if step is not None), default=None)


def _first_row(a: pa.Table, b: pa.Table, is_whole: bool) -> int | None:
    """Step of the first row that differs; if the tables are whole, also of the first that only one of them has."""
    length = min(len(a), len(b))
    if a.slice(0, length).equals(b.slice(0, length)):
        longer = max(a, b, key=len)
        return _step(longer, length) if is_whole and len(longer) > length else None
    low, high = 0, length  # the first `low` rows are equal, the first `high` are not
    while high - low > 1:
        middle = (low + high) // 2
        is_equal = a.slice(low, middle - low).equals(b.slice(low, middle - low))
        low, high = (middle, high) if is_equal else (low, middle)
    return min(_step(a, low), _step(b, low))


def _step(table: pa.Table, row: int) -> int:
    return int(table.column("step")[row].as_py())
