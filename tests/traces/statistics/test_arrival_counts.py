import math
from collections.abc import Iterable
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from traces.statistics.arrival_counts import ArrivalCounts, ArrivalSummary


def summary_of(arrivals_s: Iterable[float]) -> ArrivalSummary:
    counts = ArrivalCounts()
    for arrival_s in arrivals_s:
        counts.add(arrival_s)
    return counts.summary()


def test_figures_of_four_arrivals_by_hand() -> None:
    found = summary_of([1.0, 2.0, 2.0, 5.0])
    assert (found.num, found.first_s, found.last_s, found.span_s) == (4, 1.0, 5.0, 4.0)
    assert found.rate == 1.0
    # Gaps 1, 0, 3: mean 4/3, variance (1 + 0 + 9) / 3 - 16/9 = 14/9.
    assert found.cv == pytest.approx(math.sqrt(14 / 9) / (4 / 3))
    assert (found.longest_gap_s, found.shortest_gap_s) == (3.0, 1.0)
    assert (found.num_tied, found.num_distinct) == (2, 3)


def test_a_steady_beat_varies_not_at_all() -> None:
    found = summary_of(float(second) for second in range(101))
    assert found.cv == 0
    assert [(each.window_s, each.num_windows, each.mean, each.max, each.index) for each in found.dispersion] == [
        (1, 100, 1.0, 1, 0.0),
        (10, 10, 10.0, 10, 0.0),
    ]


def test_dispersion_of_bursts_by_hand() -> None:
    # Three arrivals in every second second: counts 3, 0, 3, 0, ... have mean 1.5 and variance 2.25.
    arrivals = [second + part / 4 for second in range(0, 20, 2) for part in range(3)]
    found = summary_of([*arrivals, 20.0])
    (second,) = found.dispersion
    assert (second.window_s, second.num_windows, second.mean, second.max) == (1, 20, 1.5, 3)
    assert second.index == 1.5


def test_the_last_part_of_a_window_is_left_out() -> None:
    found = summary_of([*(float(second) for second in range(10)), 10.5, 10.6, 10.7])
    assert [(each.num_windows, each.max) for each in found.dispersion] == [(10, 1)]


def test_poisson_arrivals_have_one_for_all_figures() -> None:
    arrivals = np.cumsum(np.random.default_rng(1).exponential(0.25, 40_000))
    found = summary_of(arrivals.tolist())
    assert found.rate == pytest.approx(4, rel=0.02)
    assert found.cv == pytest.approx(1, abs=0.02)
    assert [each.index for each in found.dispersion if each.window_s <= 60] == pytest.approx([1, 1, 1], abs=0.2)


def test_arrivals_at_one_time_have_no_rate() -> None:
    found = summary_of([7.0, 7.0, 7.0])
    assert (found.rate, found.cv, found.shortest_gap_s, found.longest_gap_s) == (None, None, None, 0.0)
    assert (found.num_tied, found.num_distinct, found.dispersion) == (3, 1, ())


def test_one_arrival_has_no_gaps() -> None:
    found = summary_of([7.0])
    assert (found.rate, found.cv, found.longest_gap_s, found.shortest_gap_s, found.num_tied) == (None,) * 4 + (0,)


@given(st.lists(st.integers(0, 2000).map(lambda quarter: quarter / 4), min_size=3, max_size=60).map(sorted))
def test_figures_are_those_of_numpy(arrivals_s: list[float]) -> None:
    found = summary_of(arrivals_s)
    gaps = np.diff(arrivals_s)
    if found.cv is not None:
        assert found.cv == pytest.approx(np.std(gaps) / np.mean(gaps), abs=1e-6)
    assert found.num_tied == sum(arrivals_s.count(each) > 1 for each in arrivals_s)
    for each in found.dispersion:
        edges = arrivals_s[0] + each.window_s * np.arange(each.num_windows + 1)
        counts = np.array([sum(low <= t < high for t in arrivals_s) for low, high in pairwise(edges)])
        assert each.index == pytest.approx(np.var(counts) / np.mean(counts))
