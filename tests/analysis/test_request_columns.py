from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analysis.errors import RunError
from analysis.request_columns import RequestColumns
from tests.run_builder import RunBuilder, small_run


def columns(builder: RunBuilder) -> RequestColumns:
    return RequestColumns.of(builder.build().table("requests"))


def test_flags_follow_from_status(tmp_path: Path) -> None:
    builder = RunBuilder(tmp_path)
    builder.step()
    builder.request("a", emissions=[(0, 1)])
    builder.request("b", status="failed", finish_s=1.0)
    builder.request("c", status="refused", finish_s=0.0)
    builder.request("d", status="aborted", finish_s=0.5)
    builder.request("e", status="unfinished")
    builder.request("f", status="unfinished", arrival_s=None)
    requests = columns(builder)
    assert requests.is_finished.tolist() == [True, False, False, False, False, False]
    assert requests.is_failed.tolist() == [False, True, True, False, False, False]
    assert requests.is_aborted.tolist() == [False, False, False, True, False, False]
    assert requests.is_injected.tolist() == [True, True, True, True, True, False]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"status": "done"}, "status 'done' is unknown; known are finished, failed"),
        ({"request_id": "b"}, "'b' occurs more than once"),
        ({"arrival_s": None}, "'a' is finished but has no arrival_s"),
        ({"last_token_s": float("nan")}, "'a' is finished but has no last_token_s"),
        ({"first_scheduled_s": None}, "'a' is finished but has no first_scheduled_s"),
    ],
)
def test_contradictions_are_errors(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    builder = small_run(tmp_path)
    builder.requests[0] = builder.requests[0]._replace(**changes)
    with pytest.raises(RunError, match=message):
        columns(builder)


def test_record_that_never_knows_when_requests_were_scheduled_is_one(tmp_path: Path) -> None:
    builder = small_run(tmp_path)
    builder.requests = [row._replace(first_scheduled_s=None) for row in builder.requests]
    assert np.isnan(columns(builder).first_scheduled_s).all()
