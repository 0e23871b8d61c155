from pathlib import Path

from analysis.level_error import level_errors
from analysis.metrics import LevelDifference
from analysis.step_columns import StepColumns
from tests.run_builder import RunBuilder


def _steps(path: Path, *steps: tuple[float, float, int]) -> StepColumns:
    """Steps of (start, duration, number waiting); one more runs."""
    run = RunBuilder(path)
    for start_s, duration_s, waiting in steps:
        run.step(start_s=start_s, duration_s=duration_s, waiting=waiting, running=waiting + 1)
    return StepColumns.of(run.build().table("steps"))


def test_levels_are_weighted_by_time_and_idle_time_counts(tmp_path: Path) -> None:
    """
    time     0    2    4    6    8    10
    a        |--2-|--3-|         |--1-|
    b             |--2-|---4-----|
    """
    a = _steps(tmp_path / "a", (0.0, 2.0, 2), (2.0, 2.0, 3), (8.0, 2.0, 1))
    b = _steps(tmp_path / "b", (2.0, 2.0, 2), (4.0, 4.0, 4))
    running, waiting = level_errors(a, b)

    assert (running.level, waiting.level) == ("running", "waiting")
    assert waiting.difference == LevelDifference(a=12 / 10, b=20 / 10, mean_abs=(4 + 2 + 16 + 2) / 10)
    assert running.difference == LevelDifference(a=18 / 10, b=26 / 10, mean_abs=(6 + 2 + 20 + 4) / 10)
    assert waiting.spread is None


def test_equal_runs_have_equal_levels_whatever_the_steps(tmp_path: Path) -> None:
    """One step of four seconds is like two of two, one of no length included."""
    a = _steps(tmp_path / "a", (1.0, 4.0, 2))
    b = _steps(tmp_path / "b", (1.0, 2.0, 2), (3.0, 0.0, 9), (3.0, 2.0, 2))

    assert [error.difference.mean_abs for error in level_errors(a, b)] == [0.0, 0.0]


def test_spread_is_that_of_the_farthest_repetition(tmp_path: Path) -> None:
    a, near, far = (_steps(tmp_path / str(waiting), (0.0, 1.0, waiting)) for waiting in (5, 6, 2))

    (_, waiting) = level_errors(a, a, [near, far])
    assert waiting.spread == LevelDifference(a=5.0, b=2.0, mean_abs=3.0)
    assert waiting.as_dict() == {
        "level": "waiting",
        "difference": {"a": 5.0, "b": 5.0, "mean_abs": 0.0},
        "spread": {"a": 5.0, "b": 2.0, "mean_abs": 3.0},
    }


def test_runs_without_time_have_no_levels(tmp_path: Path) -> None:
    steps = _steps(tmp_path / "a")

    assert [*level_errors(steps, steps)] == []
