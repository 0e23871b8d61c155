from pathlib import Path

import pytest

from analysis.chunks import Chunks
from analysis.errors import RunError
from analysis.run import Run
from analysis.run_columns import RunColumns
from tests.run_builder import RunBuilder, small_run


def chunks_of(run: Run) -> Chunks:
    columns = RunColumns.of(run)
    return Chunks.of(run.scan("events", Chunks.NAMES), columns.requests, columns.steps)


def test_chunks_stand_by_request_and_in_order_of_time(tmp_path: Path) -> None:
    chunks = chunks_of(small_run(tmp_path).build())
    assert chunks.owner.tolist() == [0, 1, 1]
    assert chunks.position.tolist() == [0, 1, 3]
    assert chunks.num_tokens.tolist() == [10, 6, 11]


def test_requests_without_a_row_and_runs_without_events(tmp_path: Path) -> None:
    builder = small_run(tmp_path / "killed")
    del builder.requests[0]
    assert chunks_of(builder.build(complete=False)).num_tokens.tolist() == [6, 11]
    assert chunks_of(RunBuilder(tmp_path / "empty").build()).owner.tolist() == []


def test_damaged_events_are_refused(tmp_path: Path) -> None:
    builder = small_run(tmp_path / "late")
    builder.event(7, "a", "chunk", num_tokens=1)
    with pytest.raises(RunError, match="Table events names step 7, which table steps does not hold"):
        chunks_of(builder.build())
    builder = small_run(tmp_path / "none")
    builder.event(1, "a", "chunk")
    with pytest.raises(RunError, match="kind chunk has no num_tokens"):
        chunks_of(builder.build())
