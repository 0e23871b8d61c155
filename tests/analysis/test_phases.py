from pathlib import Path

import numpy as np

from analysis.phases import Phase, Phases
from analysis.run_columns import RunColumns
from tests.run_builder import RunBuilder, small_run

Q, P, D, OUT = Phase.QUEUE, Phase.PREFILL, Phase.DECODE, Phase.PREEMPTED


def pieces(builder: RunBuilder, *, complete: bool = True) -> list[tuple[int, Phase, float, float]]:
    phases = Phases.of(RunColumns.of(builder.build(complete=complete)))
    columns = (phases.owner, phases.phase, phases.start_s, phases.end_s)
    return [(int(a), Phase(int(b)), float(c), float(d)) for a, b, c, d in zip(*columns, strict=True)]


def test_phases_follow_each_other(tmp_path: Path) -> None:
    assert pieces(small_run(tmp_path)) == [
        (0, P, 0.0, 1.0),
        (0, D, 1.0, 4.0),
        (1, Q, 0.5, 1.0),
        (1, P, 1.0, 2.0),
        (1, OUT, 2.0, 4.0),
        (1, D, 4.0, 6.0),
    ]


def test_preempted_before_the_first_token(tmp_path: Path) -> None:
    builder = RunBuilder(tmp_path)
    builder.step(prefill=[10])
    builder.step(decode=1)
    builder.step(prefill=[10])
    builder.event(0, "a", "admitted", num_tokens=0)
    builder.event(1, "a", "preempted")
    builder.event(2, "a", "resumed", num_tokens=0)
    builder.request("a", scheduled=0, emissions=[(2, 1)], num_preemptions=1, preempted_s=1.0)
    assert pieces(builder) == [(0, P, 0.0, 1.0), (0, OUT, 1.0, 2.0), (0, P, 2.0, 3.0)]


def test_preempted_twice_and_not_resumed(tmp_path: Path) -> None:
    builder = RunBuilder(tmp_path)
    for _ in range(6):
        builder.step(decode=1)
    builder.event(1, "a", "preempted")
    builder.event(2, "a", "resumed", num_tokens=0)
    builder.event(4, "a", "preempted")
    builder.request("a", emissions=[(0, 1), (2, 2)], status="unfinished", num_preemptions=2, preempted_s=1.0)
    builder.request("b", arrival_s=5.5, status="unfinished")
    assert pieces(builder) == [
        (0, P, 0.0, 1.0),
        (0, OUT, 1.0, 2.0),
        (0, D, 2.0, 4.0),
        (0, OUT, 4.0, 6.0),
        (1, Q, 5.5, 6.0),
    ]


def test_preempted_and_resumed_in_one_step_takes_no_time(tmp_path: Path) -> None:
    builder = RunBuilder(tmp_path)
    builder.step(prefill=[10])
    builder.step(decode=1)
    builder.event(1, "a", "preempted")
    builder.event(1, "a", "resumed", num_tokens=0)
    builder.request("a", emissions=[(0, 2)], num_preemptions=1)
    assert pieces(builder) == [(0, P, 0.0, 1.0), (0, D, 1.0, 2.0)]


def test_ends_other_than_the_last_token(tmp_path: Path) -> None:
    builder = RunBuilder(tmp_path)
    builder.step(prefill=[10])
    builder.step(decode=1)
    builder.request("fails", emissions=[(0, 1)], finish_s=1.5, status="failed", reason="broken")
    builder.request("never runs", arrival_s=0.5, finish_s=2.0, status="failed", reason="broken")
    builder.request("refused", arrival_s=1.0, finish_s=1.0, status="refused", reason="too long")
    builder.request("never came", arrival_s=None, status="unfinished")
    assert pieces(builder) == [(0, P, 0.0, 1.0), (0, D, 1.0, 1.5), (1, Q, 0.5, 2.0)]


def test_run_without_steps(tmp_path: Path) -> None:
    builder = RunBuilder(tmp_path)
    builder.request("a", arrival_s=3.0, status="unfinished")
    assert pieces(builder, complete=False) == []
    assert Phases.of(RunColumns.of(RunBuilder(tmp_path / "none").build())).owner.dtype == np.int64
