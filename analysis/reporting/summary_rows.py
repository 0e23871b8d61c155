"""The summary as rows of a table: label, unit, and a value for each run."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from analysis.metric_row import MetricRow
from analysis.metrics import prefix_hit_share

Summary = Mapping[str, Any]

_LATENCIES = (("ttft", "TTFT"), ("tpot", "TPOT"), ("itl", "ITL"), ("e2el", "E2E"))
_PHASES = (
    ("queue", "Queue time"),
    ("prefill", "Prefill time"),
    ("decode", "Decode time"),
    ("preempted", "Preempted time"),
)
_MAX_PERCENT = 200
"""From here on a multiple is easier to read."""
_SHOWN_IF_ANY = ("aborted", "unfinished")
"""Counts that are worth a row if they are not 0."""
_STATISTICS = (("mean", "mean"), ("median", "median"), ("p90", "p90"), ("p95", "p95"), ("p99", "p99"))
_SPLIT = (("mean", "mean"), ("median", "median"), ("p99", "p99"))


@dataclass(frozen=True, slots=True)
class SummaryRow:
    """One row.

    Attributes:
        section: what it is about.
        key: its key in `summary.json`, by which it is defined.
        label: its name.
        unit: of its values; empty for counts.
        values: one for each run; None where undefined.
    """

    section: str
    key: str
    label: str
    unit: str
    values: tuple[float | None, ...]

    def texts(self) -> list[str]:
        """The values as a person reads them."""
        return [number_text(value, self.unit) for value in self.values]

    def changes(self) -> list[str]:
        """How far each value is from the first, such as "+3.1 %" or "x 4.2"; empty where that says nothing."""
        rows = [MetricRow(self.key, self.values[0], value) for value in self.values]
        return ["", *(_change(row.diff_percent) for row in rows[1:])]


def _change(percent: float | None) -> str:
    if percent is None or abs(percent) < 0.05:
        return ""
    if percent < _MAX_PERCENT:
        return f"{percent:+.1f} %"
    times = 1 + percent / 100
    return f"x {times:.3g}" if times < 100 else f"x {times:,.0f}"


def number_text(value: float | None, unit: str = "") -> str:
    """A number for a person: counts as they are, shares with one decimal, all else with two; a dash if undefined."""
    if value is None:
        return "-"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.1f}" if unit == "%" else f"{value:,.2f}"


def summary_rows(summaries: Sequence[Summary]) -> list[SummaryRow]:
    """Makes the rows of runs; what no run has is left out."""
    makers = (_requests, _throughput, _objectives, _latencies, _split, _engine, _steady_state)
    rows = [row for make in makers for row in make(summaries)]
    return [row for row in rows if _is_worth_a_row(row)]


def _is_worth_a_row(row: SummaryRow) -> bool:
    return any(value if row.key in _SHOWN_IF_ANY else value is not None for value in row.values)


def _row(section: str, key: str, label: str, unit: str, summaries: Sequence[Summary], scale: float = 1) -> SummaryRow:
    values = (summary[key] for summary in summaries)
    return SummaryRow(section, key, label, unit, tuple(_scaled(value, scale) for value in values))


def _scaled(value: float | None, scale: float) -> float | None:
    return value if value is None or scale == 1 else value * scale


def _requests(summaries: Sequence[Summary]) -> Iterator[SummaryRow]:
    for key, label in (
        ("num_prompts", "Requests of the trace"),
        ("injected", "arrived"),
        ("completed", "finished"),
        ("failed", "failed or refused"),
        ("aborted", "aborted"),
        ("unfinished", "unfinished"),
    ):
        yield _row("Requests", key, label, "", summaries)
    for key, label in (("total_input_tokens", "Prompt tokens"), ("total_output_tokens", "Output tokens")):
        yield _row("Requests", key, f"{label} of finished requests", "tokens", summaries)
    for noun in ("request", "token"):
        for loop in ("open", "closed"):
            yield _row("Requests", f"{loop}_{noun}_share", f"{loop.capitalize()} loop, of {noun}s", "%", summaries, 100)


def _throughput(summaries: Sequence[Summary]) -> Iterator[SummaryRow]:
    for key, label, unit in (
        ("duration", "Duration", "s"),
        ("request_throughput", "Request throughput", "req/s"),
        ("output_throughput", "Output token throughput", "tok/s"),
        ("total_token_throughput", "Total token throughput", "tok/s"),
        ("max_output_tokens_per_s", "Peak output token throughput", "tok/s"),
        ("max_concurrent_requests", "Peak concurrent requests", ""),
        ("wall_s", "Wall time", "s"),
    ):
        yield _row("Throughput", key, label, unit, summaries)


def _objectives(summaries: Sequence[Summary]) -> Iterator[SummaryRow]:
    section = "Service level objectives"
    yield _row(section, "request_goodput", "Goodput", "req/s", summaries)
    yield _row(section, "slo_attainment", "SLO attainment, all limits", "%", summaries, 100)
    limits = dict.fromkeys(item for summary in summaries for item in (summary["slo"] or {}).items())
    for name, limit_s in limits:
        metric = name.removesuffix("_s")
        shares = [_share_within(summary, name, limit_s) for summary in summaries]
        label = f"{metric.upper()} within {1000 * limit_s:g} ms"
        yield SummaryRow(
            section, "slo_attainment_by_metric", label, "%", tuple(_scaled(share, 100) for share in shares)
        )


def _share_within(summary: Summary, name: str, limit_s: float) -> float | None:
    if (summary["slo"] or {}).get(name) != limit_s:
        return None
    share: float | None = summary["slo_attainment_by_metric"][name.removesuffix("_s")]
    return share


def _latencies(summaries: Sequence[Summary]) -> Iterator[SummaryRow]:
    for key, name in _LATENCIES:
        for statistic, text in _STATISTICS:
            yield _row("Latency", f"{statistic}_{key}_ms", f"{name} {text}", "ms", summaries)


def _split(summaries: Sequence[Summary]) -> Iterator[SummaryRow]:
    for key, name in _PHASES:
        for statistic, text in _SPLIT:
            yield _row("Latency by phase", f"{statistic}_{key}_ms", f"{name} {text}", "ms", summaries)


def _engine(summaries: Sequence[Summary]) -> Iterator[SummaryRow]:
    for level, label in (("running", "Running requests"), ("waiting", "Waiting requests")):
        yield _row("Engine", f"mean_{level}", f"{label}, mean", "requests", summaries)
        yield _row("Engine", f"max_{level}", f"{label}, peak", "requests", summaries)
    yield _row("Engine", "num_kv_blocks", "KV blocks", "", summaries)
    yield _row("Engine", "mean_kv_usage", "KV cache use, mean", "%", summaries, 100)
    yield _row("Engine", "max_kv_usage", "KV cache use, peak", "%", summaries, 100)
    yield _row("Engine", "stepping_share", "Time with a step under way", "%", summaries, 100)
    yield _row("Engine", "device_share", "Device busy within steps", "%", summaries, 100)
    yield _row("Engine", "num_steps", "Steps", "", summaries)
    yield _row("Engine", "num_preemptions", "Preemptions", "", summaries)
    hits = [_hit_share(summary) for summary in summaries]
    yield SummaryRow(
        "Engine",
        "prefix_hit_tokens",
        "Prefix cache hits, of prompt tokens",
        "%",
        tuple(_scaled(hit, 100) for hit in hits),
    )


def _hit_share(summary: Summary) -> float | None:
    if summary["prefix_query_tokens"] is None:
        return None
    return prefix_hit_share(summary["prefix_hit_tokens"], summary["prefix_query_tokens"])


def _steady_state(summaries: Sequence[Summary]) -> Iterator[SummaryRow]:
    blocks = [summary["steady_state"] or {} for summary in summaries]
    keys = [
        ("start_s", "Window starts", "s"),
        ("end_s", "Window ends", "s"),
        ("injected", "Requests that arrived in it", ""),
        ("request_throughput", "Request throughput", "req/s"),
        ("output_throughput", "Output token throughput", "tok/s"),
        *((f"{statistic}_{key}_ms", f"{name} {text}", "ms") for key, name in _LATENCIES for statistic, text in _SPLIT),
    ]
    for key, label, unit in keys:
        values = tuple(block.get(key) for block in blocks)
        yield SummaryRow("Steady state", "steady_state", label, unit, values)
