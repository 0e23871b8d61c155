import os
import shutil
import stat
import subprocess
import sys
from importlib import resources
from pathlib import Path

import pytest

from backends.simulated import load_gpu_sheet, load_model_sheet
from sim.completion import GPUS, MODELS, POLICIES, offer, offer_list, offer_sheets
from sim.policy_loader import load_policy
from tests.sim.command import ROOT


def test_names_are_those_that_can_be_given() -> None:
    sheets = resources.files("backends.simulated") / "sheets"
    for folder, names in (("gpus", GPUS), ("models", MODELS)):
        stems = {file.name.removesuffix(".toml") for file in (sheets / folder).iterdir()}
        assert {name.lower() for name in names} == stems
    assert all(load_gpu_sheet(name) for name in GPUS)
    assert all(load_model_sheet(name) for name in MODELS)
    assert all(load_policy(name, {}) for name in POLICIES)


def test_names_are_offered_and_files_left_to_the_shell() -> None:
    complete = offer("vllm", "nano-vllm")
    assert complete("") == ["vllm", "nano-vllm"]
    assert complete("n") == ["nano-vllm"]
    assert complete("my/policy") == []


def test_sheets_may_be_written_in_any_case() -> None:
    complete = offer_sheets("H100", "H200", "L40S")
    assert complete("h") == ["h100", "h200"]
    assert complete("H2") == ["H200"]
    assert load_gpu_sheet("h200") == load_gpu_sheet("H200")


def test_the_last_of_a_list_is_completed() -> None:
    assert offer_list("vllm", "nano-vllm")("vllm,na") == ["vllm,nano-vllm"]
    assert offer_list("vllm", "nano-vllm")("v") == ["vllm"]


@pytest.fixture
def program(tmp_path: Path) -> dict[str, str]:
    """An environment in which `twinserve` is on the path, as after an installation."""
    path = tmp_path / "twinserve"
    path.write_text(f"#!{sys.executable}\nfrom sim.__main__ import main\nmain()\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return {**os.environ, "PYTHONPATH": str(ROOT), "PATH": f"{tmp_path}:{os.environ['PATH']}"}


def run(environment: dict[str, str], *words: str, **more: str) -> str:
    done = subprocess.run(words, env=environment | more, capture_output=True, text=True, check=True)
    return done.stdout


@pytest.mark.parametrize(
    ("shell", "words"),
    [
        ("zsh", ["#compdef twinserve", "compdef _twinserve_completion twinserve"]),
        ("fish", ["complete --command twinserve", "_TWINSERVE_COMPLETE=complete_fish"]),
    ],
)
def test_there_is_a_script_for_other_shells(program: dict[str, str], shell: str, words: list[str]) -> None:
    script = run(program, "twinserve", _TWINSERVE_COMPLETE=f"source_{shell}")
    assert all(word in script for word in words)
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=script, text=True, check=True)


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")
def test_bash_offers_names(program: dict[str, str]) -> None:
    lines = {
        "twinserve replay t.jsonl --policy ": "vllm nano-vllm",
        "twinserve replay t.jsonl --gpu h": "h100 h200",
    }
    asked = ['eval "$(_TWINSERVE_COMPLETE=source_bash twinserve)"']
    for line in lines:
        words = line.split(" ")
        asked += [f"COMP_WORDS=({' '.join(repr(word) for word in words)}); COMP_CWORD={len(words) - 1}"]
        asked += ["_twinserve_completion twinserve", 'echo "${COMPREPLY[@]}"']
    assert run(program, "bash", "-c", "\n".join(asked)).splitlines() == list(lines.values())


def test_a_module_cannot_be_completed() -> None:
    words = [sys.executable, "-m", "sim", "--install-completion"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "error: Shells complete commands, not modules; run `twinserve --install-completion` instead.\n"
    )
