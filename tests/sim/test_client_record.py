"""A run that a client has recorded, given where an engine's own record is needed."""

from pathlib import Path

import pytest

from analysis.vllm_import import import_vllm
from tests.analysis.vllm_files import write_result
from tests.sim.command import command, replay, row, write_rows


@pytest.fixture
def server(tmp_path: Path) -> Path:
    import_vllm(write_result(tmp_path / "result.json"), tmp_path / "server")
    return tmp_path / "server"


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return write_rows(tmp_path / "trace.jsonl", row())


def test_its_settings_cannot_be_taken(server: Path, trace: Path) -> None:
    error = replay(trace, "--like", server).error

    assert "server was recorded by a client, which cannot see the server's settings; leave --like out, and" in error
    assert [flag for flag in ("--model", "--gpu", "--tp", "--max-num-seqs", "--num-blocks") if flag not in error] == []


def test_its_steps_are_none_to_replay(server: Path, trace: Path) -> None:
    for error in (replay(trace, "--cost", server).error, command("explain", "--cost", server).error):
        assert "was recorded by a client, which cannot see steps; give a run of sim replay, a file of" in error


def test_its_steps_are_none_to_fit_to(server: Path) -> None:
    error = command("calibrate", server, "--output", server.parent / "model.toml").error

    assert "was recorded by a client, which cannot see steps; fit to a file of `sim profile`, or to a run of" in error
