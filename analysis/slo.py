"""Service level objectives: latencies that a request must not exceed."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from analysis import metrics
from analysis.duration import parse_duration
from analysis.errors import SloError
from analysis.run_columns import RunColumns
from analysis.step_columns import Bools, Floats

METRICS = ("ttft", "tpot", "itl", "e2e")


@dataclass(frozen=True, slots=True)
class Slo:
    """Limits by metric. Made by `parse` or `of`.

    Attributes:
        limits_s: largest value that is good, in seconds, by metric: ttft, tpot, itl (the largest gap between two
            tokens of the request), e2e. With one output token there is no gap, so tpot and itl are met.
    """

    limits_s: Mapping[str, float]

    @classmethod
    def parse(cls, text: str) -> "Slo":
        """Reads limits as written on a command line, such as `ttft=500ms,tpot=50ms`; `e2el` stands for e2e.

        Raises:
            SloError: an item is not metric=duration, or names an unknown metric or one twice.
        """
        limits: dict[str, float] = {}
        for item in text.split(","):
            name, equals, value = (part.strip() for part in item.partition("="))
            name = "e2e" if name == "e2el" else name
            if not equals or name not in METRICS:
                raise SloError(f"SLO {item!r} is not metric=duration with one of {', '.join(METRICS)}.{_hint(name)}")
            if name in limits:
                raise SloError(f"SLO {text!r} limits {name} more than once.")
            limits[name] = parse_duration(value)
        return cls(limits)

    @classmethod
    def of(cls, limits_s: Mapping[str, Any]) -> "Slo":
        """Takes limits in seconds by metric, as they lie in `meta.json`.

        Raises:
            SloError: a metric is unknown or a limit is not a finite number of seconds.
        """
        for name, limit in limits_s.items():
            is_number = isinstance(limit, int | float) and not isinstance(limit, bool) and math.isfinite(limit)
            if name not in METRICS or not is_number:
                raise SloError(f"SLO {name}={limit!r} is not seconds for one of {', '.join(METRICS)}.")
        return cls({name: float(limit) for name, limit in limits_s.items()})

    def met(self, columns: RunColumns) -> dict[str, Bools]:
        """Says for each metric which requests met its limit; only finished ones can."""
        is_finished = columns.requests.is_finished
        return {name: is_finished & ~(_values_s(name, columns) > limit) for name, limit in self.limits_s.items()}

    def is_good(self, columns: RunColumns) -> Bools:
        """Says which requests met every limit."""
        is_good = columns.requests.is_finished.copy()
        for is_met in self.met(columns).values():
            is_good &= is_met
        return is_good


def _hint(name: str) -> str:
    """What who writes ttft_p90 looks for."""
    if name in METRICS or not any(metric in name.lower() for metric in METRICS):
        return ""
    return (
        " A limit is for each request; reports say what share of them met it, and `sim sweep` takes the share that "
        "must, such as --attainment 0.9."
    )


def _values_s(name: str, columns: RunColumns) -> Floats:
    if name == "ttft":
        return metrics.ttft_s(columns.requests)
    if name == "tpot":
        return metrics.tpot_s(columns.requests)
    if name == "e2e":
        return metrics.e2e_s(columns.requests)
    return columns.emissions.largest_gaps_s(columns.steps, len(columns.requests))
