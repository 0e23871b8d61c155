import json
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from benchmarks.gpu_check import chosen, run_group
from benchmarks.gpu_checks.groups import GROUPS, Group, cases_of
from benchmarks.gpu_checks.setup import Setup


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group.name)
def test_every_group_has_cases_with_names_of_their_own(group: Group, tmp_path: Path) -> None:
    names = [case.name for case in cases_of(group.name)(Setup("cpu", tmp_path))]
    assert names
    assert len(set(names)) == len(names)


def test_groups_are_chosen_by_name_in_their_own_order() -> None:
    assert "tensor_parallel" not in [group.name for group in chosen([], [])]
    assert [group.name for group in chosen(["start", "ops", "parity"], ["start"])] == ["parity", "ops"]
    with pytest.raises(typer.BadParameter, match="No group opps; known: flash4, "):
        chosen(["opps"], [])


def test_a_group_that_takes_too_long_is_killed_and_reported(tmp_path: Path) -> None:
    (outcome,) = run_group(Group("ops", 60), "cpu", tmp_path, limit_s=1.0)
    assert (outcome["status"], outcome["name"]) == ("ERROR", "process")
    assert outcome["message"] == "It took longer than 1 s and was killed."


def test_a_group_for_which_no_time_is_left_is_reported(tmp_path: Path) -> None:
    (outcome,) = run_group(Group("ops", 60), "cpu", tmp_path, limit_s=0.5)
    assert outcome["message"] == "Not run: the time for all groups is used up."


def test_a_group_that_cannot_be_loaded_is_an_error_and_stops_nothing(tmp_path: Path) -> None:
    (outcome,) = run_group(Group("nonsense", 60), "cpu", tmp_path, limit_s=60)
    assert (outcome["status"], outcome["name"]) == ("ERROR", "cases")
    assert "No module named 'benchmarks.gpu_checks.nonsense'" in outcome["message"]


def test_the_program_prints_and_writes_every_outcome(tmp_path: Path) -> None:
    output = tmp_path / "result.json"
    command = [sys.executable, "-m", "benchmarks.gpu_check", "--device", "cpu", "--only", "sampling"]
    done = subprocess.run([*command, "--output", str(output)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    outcomes = json.loads(output.read_text())["outcomes"]
    assert {outcome["group"] for outcome in outcomes} == {"sampling"}
    assert {outcome["status"] for outcome in outcomes} == {"SKIP"}
    assert done.stdout.count("SKIP  sampling/") == len(outcomes)
