from typing import Any

import pytest

from analysis.metric_row import LATENCIES, STATISTICS, TOTALS, MetricRow, metric_rows

KEYS = [*TOTALS, *(f"{statistic}_{latency}_ms" for latency in LATENCIES for statistic in STATISTICS)]


@pytest.mark.parametrize(
    ("a", "b", "diff", "percent"),
    [
        (2.0, 3.0, 1.0, 50.0),
        (2.0, 1.0, -1.0, -50.0),
        (0.0, 0.0, 0.0, 0.0),
        (0.0, 1.0, 1.0, None),
        (None, 1.0, None, None),
        (1.0, None, None, None),
    ],
)
def test_difference_in_own_unit_and_in_percent(
    a: float | None, b: float | None, diff: float | None, percent: float | None
) -> None:
    row = MetricRow("x", a, b)
    assert (row.diff, row.diff_percent) == (diff, percent)


@pytest.mark.parametrize(
    ("b", "spread", "is_noise"), [(9.0, 1.0, True), (11.0, 1.0, True), (11.5, 1.0, False), (11.0, None, None)]
)
def test_difference_within_the_spread_is_noise(b: float, spread: float | None, is_noise: bool | None) -> None:
    assert MetricRow("x", 10.0, b, spread).is_noise is is_noise


def test_noise_is_unknown_where_the_difference_is() -> None:
    assert MetricRow("x", None, 1.0, 1.0).is_noise is None


def test_spread_is_the_largest_distance_of_a_repetition_to_either_side() -> None:
    a: dict[str, Any] = dict.fromkeys(KEYS, 10.0)
    b: dict[str, Any] = dict.fromkeys(KEYS, 12.0)
    repetitions = [a | {"mean_ttft_ms": 10.5}, a | {"mean_ttft_ms": 8.0, "mean_tpot_ms": None}]
    rows = {row.metric: row for row in metric_rows(a, b, repetitions)}

    assert rows["mean_ttft_ms"] == MetricRow("mean_ttft_ms", 10.0, 12.0, 2.0)
    assert rows["mean_tpot_ms"].spread == 0.0
    assert rows["mean_ttft_ms"].as_dict() == {
        "metric": "mean_ttft_ms",
        "a": 10.0,
        "b": 12.0,
        "diff": 2.0,
        "diff_percent": 20.0,
        "spread": 2.0,
        "is_noise": True,
    }
    assert [row.metric for row in metric_rows(a, b)] == KEYS
    assert {row.spread for row in metric_rows(a, b)} == {None}
