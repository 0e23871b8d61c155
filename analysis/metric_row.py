"""One metric of two runs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

STATISTICS = ("mean", "p50", "p90", "p95", "p99")
LATENCIES = ("ttft", "tpot", "itl", "e2el", "queue")
TOTALS = (
    "completed",
    "failed",
    "duration",
    "request_throughput",
    "output_throughput",
    "total_token_throughput",
    "num_preemptions",
    "prefix_hit_tokens",
    "mean_kv_usage",
    "closed_request_share",
)


@dataclass(frozen=True, slots=True)
class MetricRow:
    """One metric of both runs.

    Attributes:
        metric: its key in `summary.json`.
        a: value of the first run; None if undefined.
        b: value of the second run; None if undefined.
        spread: largest distance of a repetition of the first run from it; None if undefined or there is none.
    """

    metric: str
    a: float | None
    b: float | None
    spread: float | None = None

    @property
    def diff(self) -> float | None:
        """Difference of b from a, in the metric's own unit; None if undefined."""
        return None if self.a is None or self.b is None else self.b - self.a

    @property
    def diff_percent(self) -> float | None:
        """Difference of b from a, in percent of a; None if undefined."""
        if self.a is None or self.b is None:
            return None
        if self.a == 0:
            return 0.0 if self.b == 0 else None
        return 100 * (self.b - self.a) / self.a

    @property
    def is_noise(self) -> bool | None:
        """Whether the difference is no larger than the machine's own spread; None if either is not known."""
        if self.diff is None or self.spread is None:
            return None
        return abs(self.diff) <= self.spread

    def as_dict(self) -> dict[str, Any]:
        """Returns all values for JSON."""
        return {
            "metric": self.metric,
            "a": self.a,
            "b": self.b,
            "diff": self.diff,
            "diff_percent": self.diff_percent,
            "spread": self.spread,
            "is_noise": self.is_noise,
        }


def metric_rows(
    a: Mapping[str, Any], b: Mapping[str, Any], repetitions: Sequence[Mapping[str, Any]] = ()
) -> Iterator[MetricRow]:
    """Yields the metrics of two summaries; `repetitions` are those of further runs of the first."""
    for key in (*TOTALS, *(f"{statistic}_{latency}_ms" for latency in LATENCIES for statistic in STATISTICS)):
        distances = [abs(c[key] - a[key]) for c in repetitions if c[key] is not None and a[key] is not None]
        yield MetricRow(key, a[key], b[key], max(distances, default=None))
