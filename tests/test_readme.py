"""The README's code runs as it stands: commands in order in one folder, on a part of the trace to be quick."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.doc_blocks import blocks_of
from tests.sim.command import ROOT, command

README = (ROOT / "README.md").read_text("utf-8")
BLOCKS = [(block.language, block.text) for block in blocks_of(README)]
SHELL_LINES = [line for language, text in BLOCKS if language == "sh" for line in text.splitlines()]
PYTHON = [text for language, text in BLOCKS if language == "python"]
NEEDS_GPU = ("--backend gpu", "runs/gpu", "result.json", "profile.parquet", "model.toml")  # or a file made with one


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where a reader stands, with what the commands make."""
    folder = tmp_path_factory.mktemp("clone")
    (folder / "examples").symlink_to(ROOT / "examples")
    (folder / "log.csv").write_text("time_s,prompt_tokens,answer_tokens\n10.5,700,20\n11.25,80,300\n")
    here = Path.cwd()
    os.chdir(folder)
    try:
        for line in SHELL_LINES:
            if (words := runnable(line)) is not None:
                done = command(*words)
                assert done.code == 0, (line, done.err)
    finally:
        os.chdir(here)
    return folder


def runnable(line: str) -> list[str] | None:
    """Arguments of `twinserve` for a line of the README; None if it needs a GPU or sets something up."""
    found = re.fullmatch(r"python -m (?:sim|analysis) (.*?)( +#.*)?", line)
    if found is None or any(words in line for words in NEEDS_GPU):
        return None
    words = found[1].replace("$TRACE", "examples/shared_prefixes.jsonl").split()
    return [*words, "--limit", "20"] if words[0] in ("replay", "sweep") else words


def test_commands_run_one_after_the_other(folder: Path) -> None:
    assert {path.name for path in (folder / "runs").iterdir()} == {"vllm", "nano", "sweep"}
    assert sum(runnable(line) is not None for line in SHELL_LINES) >= 8


def test_every_other_line_sets_up_or_needs_a_gpu() -> None:
    others = [line for line in SHELL_LINES if runnable(line) is None]
    assert [line for line in others if not any(words in line for words in NEEDS_GPU)] == [
        "python3 -m venv .venv && . .venv/bin/activate && pip install -q . && "
        "python -m sim replay examples/shared_prefixes.jsonl",
        "scripts/test",
        "TRACE=examples/shared_prefixes.jsonl",
        "pip install -q '.[report]'                                                    # for pages with figures",
    ]


@pytest.mark.parametrize("text", [text for text in PYTHON if "qwen3" not in text])
def test_python_runs(folder: Path, text: str) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", text], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_converted_log_is_a_trace(folder: Path) -> None:
    for text in PYTHON:
        if "to_json" in text:
            subprocess.run([sys.executable, "-c", text], cwd=folder, check=True)
    done = command("replay", folder / "mine.jsonl", "--num-blocks", 400, "--json")
    assert (done.summary["completed"], done.summary["total_input_tokens"]) == (2, 780)


def test_python_for_a_gpu_names_what_there_is() -> None:
    pytest.importorskip("torch")
    from backends.qwen3.options import Options
    from backends.qwen3.qwen3_backend import Qwen3Backend

    (text,) = [text for text in PYTHON if "qwen3" in text]
    calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    (made,) = [call for call in calls if isinstance(call.func, ast.Attribute) and call.func.attr == "from_folder"]
    assert callable(Qwen3Backend.from_folder)
    assert {word.arg for word in made.keywords} <= set(Options.__annotations__)


def test_sample_output_has_the_lines_that_the_command_prints() -> None:
    """Figures change with every better cost model; a line that is missing or new is a fault."""
    (sample,) = [text for language, text in BLOCKS if language == "text"]
    printed = command("replay", ROOT / "examples" / "shared_prefixes.jsonl", "--limit", "20").out
    assert labels(sample) == labels(printed)


def labels(report: str) -> list[str]:
    """What stands before the figures, between the description of the run and the verdict."""
    figures = report[report.index("Successful") : report.index("Verdict")]
    return [line.split(":")[0] for line in figures.splitlines()]
