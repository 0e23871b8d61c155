from pathlib import Path

import pytest

from analysis.run import Run
from analysis.step_classes import ClassedSteps, StepClass, step_class_errors
from tests.run_builder import RunBuilder


def _run(path: Path, factor: float = 1.0) -> Run:
    """One step of each kind, but two decode steps in a graph; and an empty one."""
    run = RunBuilder(path)
    run.step(duration_s=8.0 * factor, prefill=[10, 20])
    run.step(duration_s=4.0 * factor, prefill=[10], decode=2)
    run.step(duration_s=1.0 * factor, decode=2)
    run.step(duration_s=3.0 * factor, decode=2)
    run.step(duration_s=2.0 * factor, decode=3)
    run.steps[-1] = run.steps[-1]._replace(graph_size=None)
    run.step(duration_s=5.0 * factor, prefill=[10])
    run.steps[-1] = run.steps[-1]._replace(graph_size=16)
    run.step(duration_s=6.0 * factor, prefill=[10], decode=3)
    run.steps[-1] = run.steps[-1]._replace(graph_size=16)
    run.step(duration_s=0.0)
    run.steps[-1] = run.steps[-1]._replace(graph_size=None)
    return run.build()


def test_class_of_each_step(tmp_path: Path) -> None:
    steps = ClassedSteps.of(_run(tmp_path / "run"))

    assert [StepClass(each).label for each in steps.classes] == [
        "prefill eager",
        "mixed eager",
        "decode in graph",
        "decode in graph",
        "decode eager",
        "prefill in graph",
        "mixed in graph",
        "empty",
    ]


def test_durations_of_each_class_side_by_side(tmp_path: Path) -> None:
    a, b = ClassedSteps.of(_run(tmp_path / "a")), ClassedSteps.of(_run(tmp_path / "b", factor=1.5))
    errors = {error.step_class: error for error in step_class_errors(a, b, num_matched=0)}

    assert set(errors) == set(StepClass) - {StepClass.EMPTY}
    graph = errors[StepClass.DECODE_IN_GRAPH]
    assert (graph.counts, graph.shares) == ((2, 2), (4 / 29, 4 / 29))
    assert graph.duration_ms["mean"] == (2000.0, 3000.0)
    assert graph.duration_ms["p90"] == pytest.approx((2800.0, 4200.0))
    assert graph.host_ms == (500.0, 750.0)
    assert graph.matched.size == 0
    assert errors[StepClass.MIXED_EAGER].duration_ms["p50"] == (4000.0, 6000.0)


def test_steps_that_were_decided_alike_are_compared_one_by_one(tmp_path: Path) -> None:
    a, b = ClassedSteps.of(_run(tmp_path / "a")), ClassedSteps.of(_run(tmp_path / "b", factor=1.5))
    errors = {error.step_class: error.matched for error in step_class_errors(a, b, num_matched=3)}

    assert (errors[StepClass.PREFILL_EAGER].size, errors[StepClass.PREFILL_EAGER].bias_s) == (1, 4.0)
    assert (errors[StepClass.DECODE_IN_GRAPH].size, errors[StepClass.DECODE_IN_GRAPH].bias_s) == (1, 0.5)
    assert errors[StepClass.DECODE_EAGER].size == 0
    assert {error.mape for error in errors.values()} == {50.0, None}


def test_class_of_one_run_alone_has_nothing_beside_it(tmp_path: Path) -> None:
    other = RunBuilder(tmp_path / "b")
    other.step(decode=1)
    steps = ClassedSteps.of(_run(tmp_path / "a")), ClassedSteps.of(other.build())

    mixed = next(each for each in step_class_errors(*steps, num_matched=0) if each.step_class is StepClass.MIXED_EAGER)
    assert mixed.counts == (1, 0)
    assert mixed.duration_ms["mean"] == (4000.0, None)
    assert mixed.as_dict()["class"] == "mixed eager"


def test_spread_of_a_class(tmp_path: Path) -> None:
    a, near, far = (ClassedSteps.of(_run(tmp_path / str(factor), factor)) for factor in (1.0, 1.1, 0.5))

    (graph, *_) = step_class_errors(a, a, 8, [(near, 8), (far, 8)])
    assert graph.spread is not None
    assert graph.spread.bias_percent == -50.0


def test_runs_without_steps_have_no_classes(tmp_path: Path) -> None:
    steps = ClassedSteps.of(RunBuilder(tmp_path / "run").build())

    assert [*step_class_errors(steps, steps, 0)] == []
