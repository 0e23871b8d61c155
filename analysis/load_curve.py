"""How one configuration answers to load: its runs in order of rate, the knee, and the highest rate within the SLO.

*Following the load.* A run's output tokens come over its duration, first arrival to last end. Were the load followed,
the duration would be the arrival span and a drain as short as that of the lowest rate of the curve:

    lowest rate  |-------- arrivals --------|drain|
    higher rate  |-- arrivals --|drain|          offered: tokens / this
                 |-- arrivals --|--- drain ---|  output throughput: tokens / this

A rate follows the load if its output throughput is at least 95 % of the offered one and its verdict is "keeps up" or
"idle" (`analysis.verdict`), so that a lowest rate that is too high already does not pass as a measure for itself. A
trace that is short beside its latencies drains for a good part of its duration and stops following early.

*Knee*: the highest rate at which the load is followed, at it and at every lower rate of the curve. None if the lowest
does not follow. Arrivals of later turns of sessions give way to slow answers, so with closed loops the knee comes late.

*Highest rate within the SLO*: the highest at which the share of requests that meet every limit, of those that arrived,
is at least the attainment asked for, at it and at every lower rate of the curve.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

FOLLOWING_SHARE = 0.95
_NOT_BEHIND = ("keeps up", "idle")

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class LoadCurve:
    """The rows of one configuration. Made by `load_curves`.

    Attributes:
        configuration: value of each varied setting but the rate.
        rows: figures of its runs, rates rising.
        attainment: share of requests that must meet every limit.
    """

    configuration: Mapping[str, Any]
    rows: tuple[Row, ...]
    attainment: float

    @property
    def knee(self) -> Row | None:
        """The row of the knee."""
        return _last_before_a_miss(self.rows, [self.follows_load(row) for row in self.rows])

    @property
    def highest_in_slo(self) -> Row | None:
        """The row of the highest rate within the SLO."""
        return _last_before_a_miss(self.rows, [bool(self.meets_slo(row)) for row in self.rows])

    @property
    def lowest_outside_slo(self) -> Row | None:
        """The row of the lowest rate that misses the SLO; None without a miss."""
        return next((row for row in self.rows if self.meets_slo(row) is False), None)

    def offered(self, row: Row) -> float | None:
        """Output tokens a second that this row would show if it followed its load; None if the load has no rate."""
        span_s, lowest = row["arrival_span_s"], self.rows[0]
        if span_s is None or lowest["arrival_span_s"] is None:
            return None
        drain_s = max(lowest["duration"] - lowest["arrival_span_s"], 0.0)
        return float(row["total_output_tokens"] / (span_s + drain_s))

    def follows_load(self, row: Row) -> bool:
        """Whether output throughput follows the offered load."""
        offered = self.offered(row)
        if offered is None or row["output_throughput"] is None or row["verdict"] not in _NOT_BEHIND:
            return False
        return bool(row["output_throughput"] >= FOLLOWING_SHARE * offered)

    def meets_slo(self, row: Row) -> bool | None:
        """Whether enough requests meet every limit; None without limits."""
        share = row["slo_attainment"]
        return None if share is None else bool(share >= self.attainment)

    def judged(self) -> Iterator[dict[str, Any]]:
        """Yields the rows with the columns `analysis.sweep_columns.JUDGED`."""
        knee, best = self.knee, self.highest_in_slo
        for row in self.rows:
            yield {
                **row,
                "offered_output_throughput": self.offered(row),
                "follows_load": self.follows_load(row),
                "is_knee": row is knee,
                "meets_slo": self.meets_slo(row),
                "is_highest_in_slo": row is best,
            }


def load_curves(rows: Sequence[Row], varied: Sequence[str], attainment: float) -> list[LoadCurve]:
    """Sorts rows by configuration, in order of their first rows, and by rate.

    Args:
        rows: as `analysis.sweep_row` makes them.
        varied: names of the settings that make a configuration.
        attainment: share of requests that must meet every limit.
    """
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in varied), []).append(row)
    return [
        LoadCurve(
            dict(zip(varied, values, strict=True)), tuple(sorted(group, key=lambda row: row["rate_scale"])), attainment
        )
        for values, group in groups.items()
    ]


def _last_before_a_miss(rows: Sequence[Row], is_good: Sequence[bool]) -> Row | None:
    num_good = is_good.index(False) if False in is_good else len(rows)
    return rows[num_good - 1] if num_good else None
