from pathlib import Path

import pytest

from analysis.queue_view import QueueView, names
from analysis.run_columns import RunColumns
from tests.run_builder import RunBuilder


@pytest.fixture
def view(tmp_path: Path) -> QueueView:
    """a runs from 0, is preempted 2 to 4 and ends at 6; b waits 1 to 4 and ends at 5; c to e come at 3, f at 6."""
    builder = RunBuilder(tmp_path)
    for _ in range(8):
        builder.step(decode=1)
    builder.event(2, "a", "preempted")
    builder.event(4, "a", "resumed", num_tokens=0)
    builder.request("a", arrival_s=0.0, emissions=[(0, 2), (4, 2)], num_preemptions=1, preempted_s=2.0)
    builder.request("b", arrival_s=1.0, emissions=[(4, 1)])
    builder.request("c", arrival_s=3.0, emissions=[(5, 1)])
    builder.request("d", arrival_s=3.0, emissions=[(6, 1)])
    builder.request("e", arrival_s=3.5, status="unfinished")
    builder.request("f", arrival_s=6.0, emissions=[(6, 1)])
    return QueueView(RunColumns.of(builder.build()))


@pytest.mark.parametrize(
    ("row", "running", "waiting"),
    [
        (0, [], []),
        (1, ["a"], []),
        (2, [], ["a", "b"]),
        (3, [], ["a", "b", "c"]),
        (4, [], ["a", "b", "c", "d"]),
        (5, [], ["d", "e"]),
    ],
)
def test_who_is_there_at_arrival(view: QueueView, row: int, running: list[str], waiting: list[str]) -> None:
    assert view.names(view.running_at_arrival(row)) == running
    assert view.names(view.waiting_at_arrival(row)) == waiting


@pytest.mark.parametrize(
    ("row", "waited_s", "steps"), [(0, 0.0, (0, 0)), (1, 3.0, (1, 4)), (4, 4.5, (4, 8)), (5, 0.0, (6, 6))]
)
def test_how_long_it_waited(view: QueueView, row: int, waited_s: float, steps: tuple[int, int]) -> None:
    assert view.waited_s(row) == waited_s
    assert view.steps_waited(row) == steps


def test_many_names_are_cut_short() -> None:
    assert names(["a", "b"], 3) == "a, b"
    assert names(["a", "b", "c", "d"], 3) == "a, b, c and 1 more"
