import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from traces.statistics.length_counts import LengthCounts, LengthSummary


def summary_of(lengths: list[int]) -> LengthSummary:
    counts = LengthCounts()
    for length in lengths:
        counts.add(length)
    return counts.summary()


def test_figures_by_hand() -> None:
    found = summary_of([4, 1, 4, 3])
    assert (found.total, found.mean, found.min, found.max) == (12, 3.0, 1, 4)
    assert found.p50 == 3.5
    assert (found.most_common, found.most_common_share, found.at_max_share) == (4, 0.5, 0.5)


def test_the_shortest_of_several_most_common_lengths_is_named() -> None:
    assert summary_of([9, 2, 9, 2, 5]).most_common == 2


@given(st.lists(st.integers(1, 2**31 - 1) | st.integers(1, 9), min_size=1))
def test_percentiles_are_those_of_numpy(lengths: list[int]) -> None:
    found = summary_of(lengths)
    assert [found.p50, found.p90, found.p99] == pytest.approx(list(np.percentile(lengths, [50, 90, 99])))
    assert found.mean == pytest.approx(np.mean(lengths))
