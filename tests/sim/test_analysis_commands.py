from pathlib import Path

import pytest

from analysis.__main__ import app as analysis_app
from tests.run_builder import small_run
from tests.sim.command import command


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_run(tmp_path_factory.mktemp("runs") / "run").build().path


def test_report_compare_and_why_are_commands_of_the_one_program(path: Path) -> None:
    assert "Mean TTFT (ms):                          1250.00" in command("report", path).out
    assert "mean_ttft_ms" in command("compare", path, path).out
    assert "preempted in step 2" in command("why", path, "b").out


def test_every_command_of_analysis_is_there() -> None:
    overview = command("--help").out
    for info in analysis_app.registered_commands:
        assert info.callback is not None
        assert f"  {info.name or info.callback.__name__} " in overview


def test_a_missing_run_is_one_sentence(path: Path) -> None:
    assert "has no record of request 'nobody'" in command("why", path, "nobody").error
    assert command("report", "/no/such/run").error == "/no/such/run does not exist; name the directory of a run."
