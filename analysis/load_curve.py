"""How one configuration answers to load: its runs in order of rate, the knee, and the highest rate within the SLO.

*Following the load.* A rate is followed if its verdict is "keeps up" or "idle" (`analysis.verdict`): while requests
arrive, no backlog grows. What comes after the last arrival is left out, as it says nothing about the load:

    |-------- arrivals --------|---- drain ----|
    |- followed: judged here --|               |
    |- duration: output throughput is of this -|

So the output throughput of a short trace is below the offered one, output tokens / arrival span, however well the load
is followed. Chance hides a small overload: the verdict tells growth of 2 sqrt(n) requests over eight tenths of the
span from none, so an overload shows if more than 2.5 / sqrt(n) of n requests are left behind.

*Knee*: the highest rate at which the load is followed, at it and at every lower rate of the curve. None if the lowest
is not followed. Arrivals of later turns of sessions give way to slow answers, so with closed loops the knee comes late.

*Highest rate within the SLO*: the highest at which the share of requests that meet every limit, of those that arrived,
is at least the attainment asked for, at it and at every lower rate of the curve.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from analysis.backlog import SPAN_SHARE

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

    @property
    def smallest_overload(self) -> float | None:
        """The smallest share of requests left behind that would show at every rate; None if no load has a rate."""
        counts = [row["arrivals_per_s"] * row["arrival_span_s"] for row in self.rows if self.offered(row) is not None]
        return 2 / (SPAN_SHARE * math.sqrt(min(counts))) if counts else None

    def offered(self, row: Row) -> float | None:
        """Output tokens asked for, a second of the arrival span; None if the load has no rate."""
        span_s = row["arrival_span_s"]
        return None if span_s is None else float(row["total_output_tokens"] / span_s)

    def follows_load(self, row: Row) -> bool:
        """Whether the engine keeps up with the arrivals of this row."""
        return self.offered(row) is not None and row["verdict"] in _NOT_BEHIND

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
