import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.sample import Sample


def test_statistics_of_four_values() -> None:
    sample = Sample.of(np.array([3.0, 1.0, 1.0, 2.0]))
    assert sample.size == 4
    assert sample.total() == 7.0
    assert sample.mean() == 1.75
    assert sample.std() == pytest.approx(0.6875**0.5)
    assert sample.percentile(50) == 1.5
    assert sample.percentile(90) == pytest.approx(2.7)
    assert sample.percentile(0) == 1.0
    assert sample.percentile(100) == 3.0


def test_counts_stand_for_repeated_values() -> None:
    sample = Sample.of(np.array([2.0, 1.0]), np.array([1, 3]))
    assert sample.size == 4
    assert sample.mean() == 1.25
    assert sample.percentile(75) == 1.25


def test_empty_sample_has_no_statistics() -> None:
    sample = Sample.of(np.array([]))
    assert (sample.size, sample.total()) == (0, 0.0)
    assert (sample.mean(), sample.std(), sample.percentile(50)) == (None, None, None)


def test_undefined_values_are_left_out() -> None:
    sample = Sample.of(np.array([np.nan, 4.0]), np.array([5, 2]))
    assert sample.size == 2
    assert sample.mean() == 4.0


@given(
    st.lists(st.tuples(st.floats(0, 1e6), st.integers(1, 5)), min_size=1, max_size=30),
    st.sampled_from([0, 1, 50, 90, 95, 99, 99.9, 100]),
)
def test_same_percentile_as_numpy(entries: list[tuple[float, int]], percent: float) -> None:
    values, counts = (np.array(column) for column in zip(*entries, strict=True))
    assert Sample.of(values, counts).percentile(percent) == np.percentile(np.repeat(values, counts), percent)


@given(st.lists(st.tuples(st.floats(0, 1e6), st.integers(1, 5)), min_size=1, max_size=30))
def test_same_moments_as_numpy(entries: list[tuple[float, int]]) -> None:
    values, counts = (np.array(column) for column in zip(*entries, strict=True))
    sample, repeated = Sample.of(values, counts), np.repeat(values, counts)
    assert sample.mean() == pytest.approx(repeated.mean())
    assert sample.std() == pytest.approx(repeated.std(), abs=1e-6)
