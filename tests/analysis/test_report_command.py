"""`report` at the command line: of several runs, in several forms."""

import json
from pathlib import Path

import pytest

from analysis.reporting import outputs
from tests.analysis.small_sweep import small_sweep
from tests.run_builder import RunBuilder, small_run
from tests.sim.command import command


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return small_run(tmp_path / "run").build().path


def test_files_are_written_and_named(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outputs, "vega_library", lambda: "window.vegaEmbed = drawn_elsewhere;")  # takes seconds to make
    page, text, table = (tmp_path / name for name in ("out.html", "out.md", "out.csv"))
    done = command("report", path, path, "--html", page, "--markdown", text, "--csv", table, "--slo", "ttft=1s")
    assert (done.code, done.out) == (0, "")
    assert [line.split(": ")[0] for line in done.err.splitlines()] == [str(page), str(text), str(table)]
    content = page.read_text("utf-8")
    assert content.startswith("<!DOCTYPE html>")
    assert "<script>window.vegaEmbed = drawn_elsewhere;</script>" in content
    assert text.read_text("utf-8").startswith("# TwinServe report: run (1), run (2)\n")
    assert table.read_text("utf-8").startswith("run,")


def test_quiet_writes_and_says_nothing(path: Path, tmp_path: Path) -> None:
    done = command("report", path, "--markdown", tmp_path / "out.md", "-q")

    assert (done.code, done.out, done.err) == (0, "", "")
    assert (tmp_path / "out.md").exists()


def test_stdout(path: Path) -> None:
    done = command("report", path, "--csv", "-")
    assert done.out.startswith("run,description,")
    assert done.err == ""
    assert command("report", path, "--markdown", "-").out.startswith("# TwinServe report: run\n")


def test_several_runs_as_text_and_json(path: Path, tmp_path: Path) -> None:
    other = RunBuilder(tmp_path / "other").build().path
    text = command("report", path, other).out
    assert text.index("run\n====") < text.index("other\n====")
    values = json.loads(command("report", path, other, "--json").out)
    assert [value["completed"] for value in values] == [2, 0]


def test_sweep_as_text_and_json(tmp_path: Path) -> None:
    folder = small_sweep(tmp_path / "sweep", is_complete=False)
    done = command("report", folder)
    assert done.out.startswith("Partial sweep: 1 of 2 runs are not complete and left out.\n")
    assert "Knee: " in done.out
    assert [row["rate_scale"] for row in json.loads(command("report", folder, "--json").out)] == [1.0]


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("--csv", "-", "--markdown", "-"), "Two reports would go to stdout"),
        (("--csv", "-", "--json"), "Two reports would go to stdout"),
        (("--csv", "{folder}/x", "--markdown", "{folder}/x"), "Two reports would go to "),
        (("--markdown", "{folder}"), "Is a directory"),
        (("--csv", "{folder}/none/out.csv"), "No such file or directory"),
        (("--markdown", "-", "--slo", "speed=1s"), "is not metric=duration"),
        (("--markdown", "-", "--warmup", "60"), "is not a duration"),
    ],
)
def test_bad_input_is_a_sentence(path: Path, words: tuple[str, ...], part: str) -> None:
    done = command("report", path, *(word.format(folder=path.parent) for word in words))
    assert part in done.error


def test_path_that_is_neither_run_nor_sweep(tmp_path: Path) -> None:
    assert "does not exist" in command("report", tmp_path / "none", "--markdown", "-").error
    assert "is not a run directory" in command("report", tmp_path, "--markdown", "-").error
