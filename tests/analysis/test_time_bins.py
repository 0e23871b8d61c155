from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis import metrics
from analysis.metrics import Span
from analysis.run_columns import RunColumns
from analysis.step_columns import Floats, Ints, StepColumns
from analysis.time_bins import TimeBins, percentiles
from tests.run_builder import RunBuilder


def steps_of(times_s: Floats) -> StepColumns:
    """Steps from every second time to the one that follows it."""
    start_s, end_s = times_s[::2], times_s[1::2]
    none: Ints = np.zeros(len(start_s), np.int64)
    return StepColumns(0, start_s, end_s, end_s - start_s, end_s - start_s, none, none, none, none, none)


def test_bins_cover_the_span() -> None:
    bins = TimeBins.of(Span(1.0, 7.0), 1.5)
    assert bins.edges_s.tolist() == [1.0, 2.5, 4.0, 5.5, 7.0]
    assert bins.middles_s.tolist() == [1.75, 3.25, 4.75, 6.25]
    assert len(TimeBins.of(Span(1.0, 7.1), 1.5)) == 5
    assert len(TimeBins.of(Span(2.0, 2.0), 1.5)) == 1


def test_level_counts_idle_time_and_weighs_by_time() -> None:
    # level 2 over 0-1, 3 over 1-2.5, 0 over 2.5-3.5, 1 over 3.5-4.5
    steps = steps_of(np.array([0.0, 1.0, 1.0, 2.5, 3.5, 4.5]))
    level = TimeBins.of(Span(0.0, 6.0), 1.5).level(np.array([2, 3, 1]), steps)
    assert level.lowest.tolist() == [2, 0, 0, 0]
    assert level.mean.tolist() == pytest.approx([7 / 3, 2.0, 2 / 3, 0.0])
    assert level.highest.tolist() == [3, 3, 1, 0]


@given(
    st.lists(st.integers(0, 4), max_size=12).filter(lambda lengths: len(lengths) % 2 == 0),
    st.lists(st.integers(0, 5), min_size=6, max_size=6),
)
def test_level_is_that_of_a_fine_grid(lengths: list[int], values: list[int]) -> None:
    steps = steps_of(np.cumsum(lengths, dtype=np.float64))
    values = values[: len(steps)]
    bins = TimeBins.of(Span(1.5, 14.5), 2.25)
    level = bins.level(np.array(values, np.int64), steps)
    grid = np.arange(0, 20, 1 / 8) + 1 / 16
    truth = np.zeros(len(grid))
    for start_s, end_s, value in zip(steps.start_s, steps.end_s, values, strict=True):
        truth[(grid >= start_s) & (grid < end_s)] = value
    for k in range(len(bins)):
        inside = truth[(grid >= bins.edges_s[k]) & (grid < bins.edges_s[k + 1])]
        assert (level.lowest[k], level.highest[k]) == (inside.min(), inside.max())
        assert level.mean[k] == pytest.approx(inside.mean())


def test_whole_run_in_one_bin_agrees_with_the_summary(tmp_path: Path) -> None:
    builder = RunBuilder(tmp_path)
    for running in (1, 5, 3):
        builder.step(decode=1, running=running, duration_s=float(running))
    steps = RunColumns.of(builder.build()).steps
    level = TimeBins.of(Span(0.0, 9.0), 9.0).level(steps.num_running, steps)
    assert level.mean[0] == pytest.approx(metrics.time_average(steps.num_running, steps))
    assert (level.lowest[0], level.highest[0]) == (1, 5)


def test_per_step_counts_each_step_alike() -> None:
    steps = steps_of(np.array([0.0, 0.5, 0.5, 1.25, 4.5, 6.0]))
    extent = TimeBins.of(Span(0.0, 6.0), 1.5).per_step(np.array([10, 40, 7]), steps)
    assert extent.lowest.tolist() == pytest.approx([10, np.nan, np.nan, 7], nan_ok=True)
    assert extent.mean.tolist() == pytest.approx([25, np.nan, np.nan, 7], nan_ok=True)
    assert extent.highest.tolist() == pytest.approx([40, np.nan, np.nan, 7], nan_ok=True)


def test_sums_and_samples_leave_out_what_has_no_time() -> None:
    bins = TimeBins.of(Span(0.0, 3.0), 1.0)
    times_s = np.array([2.9, 0.0, 1.0, np.nan, 3.0, 3.1, -0.1])
    assert bins.sums(times_s).tolist() == [1, 1, 2]
    assert bins.sums(times_s, np.arange(7)).tolist() == [1, 2, 4]
    samples = bins.samples(times_s, np.arange(7, dtype=np.float64))
    assert [sample.values.tolist() for sample in samples] == [[1.0], [2.0], [0.0, 4.0]]
    assert percentiles(samples, 50).tolist() == [1.0, 2.0, 2.0]
    assert np.isnan(percentiles(TimeBins.of(Span(0, 1), 1).samples(np.zeros(0), np.zeros(0)), 50)).tolist() == [True]


def test_run_without_steps_is_at_level_0() -> None:
    steps = steps_of(np.zeros(0))
    level = TimeBins.of(Span(0.0, 2.0), 1.0).level(np.zeros(0, np.int64), steps)
    assert [values.tolist() for values in level] == [[0, 0]] * 3
