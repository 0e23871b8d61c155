from typing import Any

import pytest

from analysis.load_curve import LoadCurve, load_curves
from tests.analysis.load_rows import load_row


def curve(*rows: dict[str, Any], attainment: float = 0.9) -> LoadCurve:
    (made,) = load_curves(rows, ["policy"], attainment)
    return made


def rates(*rows: Any) -> list[float | None]:
    return [None if row is None else row["rate_scale"] for row in rows]


def test_knee_is_the_last_rate_that_is_kept_up_with() -> None:
    made = curve(
        load_row(1, span_s=100, drain_s=1),
        load_row(2, span_s=50, drain_s=2),
        load_row(4, span_s=25, drain_s=3, verdict="falls behind"),
    )

    assert [made.offered(row) for row in made.rows] == [10, 20, 40]
    assert [made.follows_load(row) for row in made.rows] == [True, True, False]
    assert rates(made.knee) == [2]


def test_drain_of_a_short_trace_is_no_overload() -> None:
    """The drain is as long as the arrivals, and output throughput half of what is offered."""
    made = curve(load_row(1, span_s=100, drain_s=1), load_row(8, span_s=12.5, drain_s=12.5))

    assert made.rows[1]["output_throughput"] == 40
    assert made.offered(made.rows[1]) == 80
    assert rates(made.knee) == [8]


def test_smallest_overload_that_shows_is_of_the_number_of_requests() -> None:
    """100 requests: growth of 20 in eight tenths of the span, in which 80 came."""
    assert curve(load_row(1, span_s=10, drain_s=1), load_row(2, span_s=5, drain_s=9)).smallest_overload == 0.25
    assert curve(load_row(1, span_s=None, drain_s=1)).smallest_overload is None


@pytest.mark.parametrize("verdict", ["falls behind", "too short"])
def test_rate_that_the_verdict_does_not_let_keep_up_does_not_follow(verdict: str) -> None:
    made = curve(load_row(1, span_s=100, drain_s=1), load_row(2, span_s=50, drain_s=1, verdict=verdict))

    assert rates(made.knee) == [1]


def test_lowest_rate_that_falls_behind_leaves_no_knee() -> None:
    """Though its long drain makes the higher rate look well."""
    made = curve(
        load_row(8, span_s=10, drain_s=90, verdict="falls behind"), load_row(9, span_s=9, drain_s=90, verdict="idle")
    )

    assert made.knee is None
    assert made.follows_load(made.rows[1])


def test_nothing_behind_the_first_miss_is_the_knee() -> None:
    made = curve(
        load_row(1, span_s=100, drain_s=1),
        load_row(2, span_s=50, drain_s=9, verdict="falls behind"),
        load_row(3, span_s=33, drain_s=1),
    )

    assert rates(made.knee) == [1]


def test_requests_that_come_all_at_once_have_no_load_to_follow() -> None:
    made = curve(load_row(1, span_s=None, drain_s=5))

    assert made.offered(made.rows[0]) is None
    assert made.knee is None


def attained(*shares: float | None, attainment: float = 0.9) -> LoadCurve:
    return curve(
        *(load_row(rate, span_s=9, drain_s=1, slo_attainment=share) for rate, share in enumerate(shares, start=1)),
        attainment=attainment,
    )


@pytest.mark.parametrize(
    ("shares", "highest", "missed"),
    [
        ([1.0, 0.9, 0.8], 2, 3),
        ([1.0, 0.95, 0.9], 3, None),
        ([0.89, 1.0], None, 1),
        ([1.0, 0.5, 1.0], 1, 2),
        ([None, None], None, None),
    ],
)
def test_highest_rate_within_the_slo(shares: list[float | None], highest: float | None, missed: float | None) -> None:
    made = attained(*shares)

    assert rates(made.highest_in_slo, made.lowest_outside_slo) == [highest, missed]


def test_attainment_decides() -> None:
    assert rates(attained(0.99, 0.96, 0.9, attainment=0.95).highest_in_slo) == [2]


def test_rows_are_marked() -> None:
    made = attained(1.0, 0.8)
    marks = ("is_knee", "follows_load", "meets_slo", "is_highest_in_slo")

    assert [tuple(row[name] for name in marks) for row in made.judged()] == [
        (False, True, True, True),
        (True, True, False, False),
    ]
    assert [row["offered_output_throughput"] for row in made.judged()] == [1000 / 9] * 2


def test_without_limits_nothing_is_met_or_missed() -> None:
    assert [row["meets_slo"] for row in attained(None).judged()] == [None]


def test_curves_by_configuration_in_order_of_first_rows_with_rates_rising() -> None:
    rows = [
        load_row(rate, span_s=1, drain_s=1, policy=policy, seed=seed)
        for rate in (2, 1)
        for policy, seed in (("b", 1), ("a", 1), ("b", 2))
    ]
    made = load_curves(rows, ["policy", "seed"], 0.9)

    assert [each.configuration for each in made] == [
        {"policy": "b", "seed": 1},
        {"policy": "a", "seed": 1},
        {"policy": "b", "seed": 2},
    ]
    assert [rates(*each.rows) for each in made] == [[1, 2]] * 3
