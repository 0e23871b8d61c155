from pathlib import Path

import pytest

from analysis.load_shares import load_shares
from tests.run_builder import RunBuilder


def test_later_turns_are_closed_loop_and_all_else_is_open(tmp_path: Path) -> None:
    builder = RunBuilder(tmp_path / "run")
    for name, session, num_input in [
        ("a", None, 10),
        ("s1", "s", 20),
        ("s2", "s", 30),
        ("t1", "t", 5),
        ("s3", "s", 31),
    ]:
        builder.request(name, session_id=session, input_tokens=num_input, status="unfinished")
    assert load_shares(builder.build()) == pytest.approx(
        {
            "open_request_share": 3 / 5,
            "closed_request_share": 2 / 5,
            "open_token_share": (11 + 21 + 6) / 101,
            "closed_token_share": (31 + 32) / 101,
        }
    )


def test_without_requests_there_are_no_shares(tmp_path: Path) -> None:
    assert set(load_shares(RunBuilder(tmp_path / "run").build()).values()) == {None}
