"""What goes to stdout and what to stderr, when both are files or pipes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.run_builder import small_run
from tests.sim.command import command, in_process, row, write_rows

ESCAPE = "\x1b"


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_rows(tmp_path_factory.mktemp("trace") / "trace.jsonl", row(), row(10))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_run(tmp_path_factory.mktemp("runs") / "run").build().path


def sweep_of(trace: Path, *args: object) -> tuple[object, ...]:
    return ("sweep", trace, "--rates", 1, "--num-blocks", 400, "--jobs", 1, "-o", trace.parent / "sweep", *args)


def test_quiet_says_nothing_but_errors(trace: Path, run: Path, tmp_path: Path) -> None:
    for args in (
        ("replay", trace, "--num-blocks", 400, "-o", tmp_path / "run", "--quiet"),
        sweep_of(trace, "-q"),
        ("explain", "-q"),
        ("verify", tmp_path / "run", "-q"),
    ):
        done = command(*args)
        assert (done.code, done.err) == (0, ""), args
        assert done.out
    assert command("replay", tmp_path / "none", "-q").error.startswith(str(tmp_path / "none"))


def test_quiet_and_verbose_together_are_an_error(trace: Path) -> None:
    assert "say the opposite" in command("replay", trace, "-q", "-v").error


def test_verbose_sweep_tells_of_each_run(trace: Path) -> None:
    command(*sweep_of(trace))
    done = command(*sweep_of(trace, "-v"))
    assert "detail: 1 of 1 runs are complete already.\n" in done.err
    assert "detail: Up to 1 runs at a time, each in a process of its own.\n" in done.err


def test_json_is_all_that_stdout_holds(trace: Path, run: Path) -> None:
    for args in (
        ("replay", trace, "--num-blocks", 400, "-v"),
        sweep_of(trace, "-v"),
        ("explain",),
        ("report", run),
        ("compare", run, run),
        ("why", run, "a"),
    ):
        done = command(*args, "--json")
        assert done.code == 0
        assert json.loads(done.out)


@pytest.mark.parametrize(
    ("environment", "has_codes"),
    [
        ({}, False),
        ({"TERM": "dumb"}, False),
        ({"FORCE_COLOR": "1"}, True),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
    ],
)
def test_files_have_codes_only_where_they_are_asked_for(
    run: Path, environment: dict[str, str], has_codes: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in ({"TERM": "xterm-256color"} | environment).items():
        monkeypatch.setenv(name, value)
    for args in (("compare", run, run), ("explain",)):
        assert (ESCAPE in command(*args).out) is has_codes, args
    for plain in (("report", run), ("--help",), ("replay", "--help"), ("why", run, "a")):
        assert ESCAPE not in command(*plain).out, plain


@pytest.mark.skipif(sys.platform == "win32", reason="pipes close in other ways there")
@pytest.mark.parametrize("args", [("--help",), ("replay", "{trace}", "-q")])
def test_a_reader_that_goes_away_is_no_fault(args: tuple[str, ...], trace: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    words, how = in_process(*(word.format(trace=trace) for word in args))
    with os.fdopen(write, "w") as closed:
        done = subprocess.run(words, stdout=closed, stderr=subprocess.PIPE, check=False, **how)
    assert done.stderr == ""
    assert done.returncode == 1


def test_names_that_the_terminal_cannot_show_are_escaped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "ascii:strict")
    trace = write_rows(tmp_path / "caf\u00e9.jsonl", row())
    for args in (("replay", trace, "--num-blocks", 400, "-q", "-o", tmp_path / "run"), ("report", tmp_path / "run")):
        words, how = in_process(*args)
        done = subprocess.run(words, capture_output=True, check=False, **how)
        assert (done.returncode, done.stderr) == (0, ""), args
        assert "trace caf\\xe9.jsonl" in done.stdout
