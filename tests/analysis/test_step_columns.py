from pathlib import Path

import pytest

from analysis.errors import RunError
from analysis.step_columns import StepColumns
from tests.run_builder import RunBuilder, small_run


def columns(builder: RunBuilder) -> StepColumns:
    return StepColumns.of(builder.build().table("steps"))


def test_columns_of_the_small_run(tmp_path: Path) -> None:
    steps = columns(small_run(tmp_path))
    assert len(steps) == 5
    assert steps.start_s.tolist() == [0.0, 1.0, 2.0, 4.0, 5.0]
    assert steps.end_s.tolist() == [1.0, 2.0, 4.0, 5.0, 6.0]
    assert steps.num_tokens.tolist() == [10, 11, 1, 11, 1]


def test_a_sequence_that_ends_in_its_step_counts_as_running(tmp_path: Path) -> None:
    assert columns(small_run(tmp_path)).num_running.tolist() == [1, 2, 1, 1, 1]


def test_first_step_may_have_any_number(tmp_path: Path) -> None:
    builder = small_run(tmp_path)
    builder.steps = [row._replace(step=row.step + 7) for row in builder.steps]
    assert columns(builder).first_step == 7


def test_no_steps(tmp_path: Path) -> None:
    steps = columns(RunBuilder(tmp_path))
    assert (len(steps), steps.first_step) == (0, 0)


def test_gap_in_step_numbers(tmp_path: Path) -> None:
    builder = small_run(tmp_path)
    del builder.steps[2]
    with pytest.raises(RunError, match="step 3 follows step 1"):
        columns(builder)


def test_negative_duration(tmp_path: Path) -> None:
    builder = RunBuilder(tmp_path)
    builder.step(duration_s=-1.0)
    with pytest.raises(RunError, match=r"step 0 has a duration of -1\.0 s"):
        columns(builder)


def test_overlapping_steps(tmp_path: Path) -> None:
    builder = RunBuilder(tmp_path)
    builder.step()
    builder.step(start_s=0.5)
    with pytest.raises(RunError, match="step 1 starts before"):
        columns(builder)


def test_rounding_to_microseconds_is_no_overlap(tmp_path: Path) -> None:
    builder = RunBuilder(tmp_path)
    builder.step()
    builder.step(start_s=1 - 5e-7)
    assert len(columns(builder)) == 2
