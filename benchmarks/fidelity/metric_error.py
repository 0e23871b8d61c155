"""How far a simulated figure is from the measured one, and how far it may be."""

from dataclasses import dataclass
from typing import Any

FULL_SHARE = 100
"""Percent of the sustained rate from which on a queue grows as long as requests come."""


@dataclass(frozen=True, slots=True)
class Metric:
    """A figure of `summary.json` that is compared.

    Attributes:
        key: its key.
        title: for tables.
        unit: "ms" or "tok/s".
        limit_percent: allowed below saturation; None = shown only.
        limit_ms: allowed instead, if that is more.
        saturated_percent: allowed at saturation; None = shown only.
        is_noise_allowed: whether at saturation twice the difference of two real runs is allowed instead.
    """

    key: str
    title: str
    unit: str
    limit_percent: float | None
    limit_ms: float = 0.0
    saturated_percent: float | None = None
    is_noise_allowed: bool = False


METRICS = (
    Metric("mean_tpot_ms", "TPOT mean", "ms", 2.0),
    Metric("output_throughput", "output", "tok/s", 2.0, saturated_percent=1.0),
    Metric("mean_ttft_ms", "TTFT mean", "ms", 5.0, limit_ms=3.0, saturated_percent=10.0, is_noise_allowed=True),
    Metric("p90_ttft_ms", "TTFT p90", "ms", 5.0, limit_ms=3.0, saturated_percent=10.0, is_noise_allowed=True),
    Metric("mean_e2el_ms", "E2E mean", "ms", 2.0),
)


@dataclass(frozen=True, slots=True)
class MetricError:
    """One metric of a run and of its simulation.

    Attributes:
        metric: which.
        real: measured; None if undefined.
        simulated: likewise.
        spread: absolute difference of two real runs of the same trace; None if there is one run only.
    """

    metric: Metric
    real: float | None
    simulated: float | None
    spread: float | None = None

    @classmethod
    def of(
        cls, metric: Metric, real: dict[str, Any], simulated: dict[str, Any], repeat: dict[str, Any] | None
    ) -> "MetricError":
        """From the summaries; `repeat` is that of another real run of the trace."""
        spread = None
        if repeat is not None and real[metric.key] is not None and repeat[metric.key] is not None:
            spread = abs(real[metric.key] - repeat[metric.key])
        return cls(metric, real[metric.key], simulated[metric.key], spread)

    @property
    def difference(self) -> float | None:
        """Simulated less real, in the metric's unit."""
        return None if self.real is None or self.simulated is None else self.simulated - self.real

    @property
    def percent(self) -> float | None:
        """The same in percent of the real one."""
        return None if self.difference is None or not self.real else 100 * self.difference / self.real

    def is_met(self, share: int) -> bool | None:
        """Whether the target is met at this percentage of the sustained rate; None if there is none."""
        metric, is_full = self.metric, share >= FULL_SHARE
        limit = metric.saturated_percent if is_full else metric.limit_percent
        if limit is None or self.difference is None or self.real is None:
            return None
        allowed = limit / 100 * abs(self.real)
        if not is_full:
            allowed = max(allowed, metric.limit_ms)
        elif metric.is_noise_allowed and self.spread is not None:
            allowed = max(allowed, 2 * self.spread)
        return abs(self.difference) <= allowed
