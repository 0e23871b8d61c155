from pathlib import Path

import numpy as np
import pytest

from analysis.errors import RunError
from analysis.run_columns import RunColumns
from tests.run_builder import RunBuilder, small_run


def test_interval_lies_between_starts_of_steps(tmp_path: Path) -> None:
    preemptions = RunColumns.of(small_run(tmp_path).build()).preemptions
    assert len(preemptions) == 1
    assert preemptions.position.tolist() == [2]
    assert preemptions.owner.tolist() == [1]
    assert (preemptions.start_s.tolist(), preemptions.end_s.tolist()) == ([2.0], [4.0])


def test_several_preemptions_of_several_requests(tmp_path: Path) -> None:
    builder = RunBuilder(tmp_path)
    for _ in range(8):
        builder.step(decode=1)
    builder.event(1, "b", "preempted")
    builder.event(2, "a", "preempted")
    builder.event(3, "b", "resumed", num_tokens=0)
    builder.event(4, "a", "resumed", num_tokens=0)
    builder.event(5, "b", "preempted")
    builder.event(7, "b", "resumed", num_tokens=0)
    builder.event(7, "a", "preempted")
    builder.request("a", status="unfinished", num_preemptions=2)
    builder.request("b", emissions=[(7, 1)], num_preemptions=2)
    preemptions = RunColumns.of(builder.build()).preemptions
    assert len(preemptions) == 4
    assert preemptions.owner.tolist() == [0, 1, 1]
    assert preemptions.before(np.array([np.inf, np.inf])).tolist() == [2.0, 4.0]
    assert preemptions.before(np.array([np.nan, 5.0])).tolist() == [0.0, 2.0]


def test_requests_without_a_row_count_but_have_no_interval(tmp_path: Path) -> None:
    builder = small_run(tmp_path)
    del builder.requests[1]
    preemptions = RunColumns.of(builder.build(complete=False)).preemptions
    assert len(preemptions) == 1
    assert preemptions.owner.tolist() == []


def test_event_in_a_step_that_is_not_there(tmp_path: Path) -> None:
    builder = small_run(tmp_path)
    builder.event(9, "b", "preempted")
    with pytest.raises(RunError, match="names step 9, which table steps does not hold"):
        RunColumns.of(builder.build())


def test_preemption_that_no_resumption_follows_is_known_by_its_start(tmp_path: Path) -> None:
    builder = RunBuilder(tmp_path)
    for _ in range(4):
        builder.step(decode=1)
    builder.event(0, "a", "preempted")
    builder.event(1, "b", "preempted")
    builder.event(2, "a", "resumed", num_tokens=0)
    builder.event(3, "a", "preempted")
    builder.request("a", status="unfinished", num_preemptions=2)
    builder.request("b", status="unfinished", num_preemptions=1)
    preemptions = RunColumns.of(builder.build()).preemptions
    assert preemptions.owner.tolist() == [0]
    assert (preemptions.last_owner.tolist(), preemptions.last_start_s.tolist()) == ([0, 1], [3.0, 1.0])
