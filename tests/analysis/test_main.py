import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.analysis.timeline_events import read_events
from tests.analysis.vllm_files import write_result
from tests.run_builder import RunBuilder, small_run

ROOT = Path(__file__).parents[2]


def analysis(*arguments: object, **more: Any) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "analysis", *map(str, arguments)]
    how: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "check": False, **more}
    return subprocess.run(command, cwd=ROOT, **how)  # check is in `how`


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    builder = small_run(tmp_path_factory.mktemp("runs") / "run")
    return builder.build(summary={"wall_s": 0.25, "decision_digest": "d"}).path


def test_report(path: Path) -> None:
    done = analysis("report", path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Mean TTFT (ms):                          1250.00" in done.stdout


def test_report_as_json(path: Path) -> None:
    done = analysis("report", path, "--json", "--slo", "ttft=1s", "--warmup", "250ms")
    summary: dict[str, Any] = json.loads(done.stdout)
    assert summary["slo_attainment"] == pytest.approx(1 / 3)
    assert summary["steady_state"]["warmup_s"] == 0.25
    assert (summary["wall_s"], summary["decision_digest"]) == (0.25, "d")


def test_compare(path: Path) -> None:
    done = analysis("compare", path, path)
    assert done.returncode == 0
    assert "mean_ttft_ms" in done.stdout
    assert "Decisions: equal in every step." in done.stdout
    assert json.loads(analysis("compare", path, path, "--json").stdout)["decisions_equal"] is True


def test_compare_with_repetitions(path: Path) -> None:
    done = analysis("compare", path, path, "--spread", path, "--spread", path, "--json")
    metrics: list[dict[str, Any]] = json.loads(done.stdout)["metrics"]
    assert {row["spread"] for row in metrics} == {0.0}
    assert {row["is_noise"] for row in metrics} == {True}


def test_why(path: Path) -> None:
    assert "preempted in step 2" in analysis("why", path, "b").stdout
    assert json.loads(analysis("why", path, "b", "--json").stdout)["request"]["request_id"] == "b"


def test_timeline(path: Path, tmp_path: Path) -> None:
    output = tmp_path / "t.json"
    done = analysis("timeline", path, "-o", output, "--start", "4500ms", "--requests", "0-1")
    assert (done.returncode, done.stdout) == (0, f"{output}: run: 1 of 3 requests, 2 of 5 steps\n")
    assert [e["name"] for e in read_events(output) if e.get("cat") == "request"] == ["b"]


def test_import_vllm(tmp_path: Path) -> None:
    result, run = write_result(tmp_path / "result.json"), tmp_path / "run"
    done = analysis("import-vllm", result, "--output", run)

    assert done.returncode == 0
    assert done.stdout == (
        f"{run}: 2 requests finished, 1 failed\nreplay them: python -m sim replay {run / 'trace.jsonl.zst'}\n"
    )
    notes = done.stderr.splitlines()
    assert all(note.startswith("note: ") for note in notes)
    assert "note: The texts of the answers were left out." in notes
    assert "Mean TTFT (ms):                          375.00" in analysis("report", run).stdout

    again = analysis("import-vllm", result, "--output", run)
    assert (again.returncode, again.stdout) == (2, "")
    assert again.stderr == f"error: {run} exists and is not empty; name a new directory for the run, or remove it.\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ("report", "/no/such/run"),
        ("report", "{path}", "--slo", "speed=1s"),
        ("report", "{path}", "--warmup", "soon"),
        ("compare", "{path}", "/no/such/run"),
        ("compare", "{path}", "{path}", "--spread", "/no/such/run"),
        ("import-vllm", "/no/such/result.json", "--output", "/no/such/run"),
        ("import-vllm", "{path}/meta.json", "--output", "/no/such/run"),
        ("timeline", "{path}", "--output", "/no/such/t.json"),
        ("timeline", "{path}", "--output", "{path}"),
        ("timeline", "{path}", "--output", "{path}/t.json", "--requests", "b"),
        ("timeline", "{path}", "--output", "{path}/t.json", "--start", "10"),
        ("why", "{path}", "nobody"),
        ("why", "{path}"),
        ("frobnicate",),
    ],
)
def test_bad_input_is_a_sentence_and_exit_code_2(path: Path, arguments: tuple[str, ...]) -> None:
    done = analysis(*(argument.format(path=path) for argument in arguments))
    assert done.returncode == 2
    assert done.stdout == ""
    assert "error: " in done.stderr.lower()
    assert "Traceback" not in done.stderr


def test_help_needs_neither_arrow_nor_numpy() -> None:
    program = "import sys, analysis.__main__; print({'pyarrow', 'numpy', 'pandas'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


NO_PANDAS = """
import sys
from pathlib import Path
from analysis.comparison import compare
from analysis.run import load
from analysis.story import tell
from analysis.summary import summarise
from tests.analysis.vllm_files import write_result
from tests.run_builder import RunBuilder, small_run

path = Path(sys.argv[1])
full, empty, calm = small_run(path / "full"), RunBuilder(path / "empty"), small_run(path / "calm")
calm.events.clear()
for builder in (full, empty, calm):
    run = builder.build()
    summarise(run)
    compare(run, load(run.path))
    if builder is not empty:
        tell(run, "b").render()
print("pandas" in sys.modules)
"""


def test_writing_and_commands_need_no_pandas(tmp_path: Path) -> None:
    command = [sys.executable, "-c", NO_PANDAS, str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_id_that_the_terminal_cannot_show_is_escaped(tmp_path: Path) -> None:
    builder = RunBuilder(tmp_path / "run")
    builder.step(decode=1)
    builder.request("é", emissions=[(0, 1)])
    path = builder.build().path
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii"}

    assert "Request \\xe9" in analysis("why", path, "é", env=ascii_only).stdout
    story = analysis("why", path, "é", "--json", env=ascii_only).stdout
    assert json.loads(story)["request"]["request_id"] == "é"


def test_id_that_is_no_text_is_not_found(path: Path) -> None:
    done = analysis("why", path, b"\xff".decode(errors="surrogateescape"))

    assert (done.returncode, done.stdout) == (2, "")
    assert "has no record of request '\\udcff'" in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device here is always full")
def test_output_that_cannot_be_written(path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        for arguments in (("report", path), ("compare", path, path), ("why", path, "b")):
            done = analysis(*arguments, stdout=full)
            assert (done.returncode, done.stderr) == (2, "error: No space left on device.\n")
