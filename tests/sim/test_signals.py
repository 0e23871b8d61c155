"""What a run that is stopped from outside leaves behind. Each test stops a process of its own in the middle."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from analysis.run import load
from tests.sim.command import ROOT, in_process, row, write_rows

DEADLINE_S = 60.0

# Few rows a part, so that there are parts to find after a second of serving.
WITH_SMALL_PARTS = """
import functools, sys
import sim.replay
from analysis.run_writer import RunWriter
from sim.__main__ import main
sim.replay.RunWriter = functools.partial(RunWriter, rows_per_part=20)
main()
"""


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """Ten minutes of traffic, dense at first: at wall pace no test waits for its end."""
    rows = [row(5 * number, 30, 20) for number in range(300)]
    return write_rows(tmp_path / "trace.jsonl", *rows, row(600_000))


@pytest.fixture
def running(trace: Path, tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A replay at wall pace that has begun to serve."""
    arguments, how = in_process("replay", trace, "--pace", "wall", "--num-blocks", 400, "--output", tmp_path / "run")
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **how)
    try:
        _wait_for(tmp_path / "run", "trace.jsonl.zst", process)
        time.sleep(0.3)
        yield process
    finally:
        process.kill()
        process.communicate()


def _wait_for(run: Path, pattern: str, process: "subprocess.Popen[str]") -> None:
    deadline_s = time.monotonic() + DEADLINE_S
    while not list(run.glob(pattern)):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline_s, f"no {pattern} after {DEADLINE_S} s"
        time.sleep(0.02)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "terminated"])
def test_stopped_run_is_reported_kept_and_marked_as_partial(
    number: signal.Signals, running: "subprocess.Popen[str]", tmp_path: Path
) -> None:
    running.send_signal(number)
    out, err = running.communicate(timeout=DEADLINE_S)

    assert running.returncode == 130
    assert "Partial run: it was stopped before its end.\n" in out
    assert "Traceback" not in err
    run = load(tmp_path / "run")
    assert not run.is_complete
    assert run.summary is not None
    assert run.summary["complete"] is False
    assert not list((tmp_path / "run").glob("*.part*"))
    statuses = run.table("requests").column("status").to_pylist()
    assert len(statuses) == 301
    assert "unfinished" in statuses
    assert len(run.table("steps")) > 0


def test_killed_run_leaves_parts_that_can_be_read(trace: Path, tmp_path: Path) -> None:
    arguments = [sys.executable, "-c", WITH_SMALL_PARTS, "replay", str(trace), "--pace", "wall", "--num-blocks", "400"]
    process = subprocess.Popen(
        [*arguments, "--output", str(tmp_path / "run")],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        _wait_for(tmp_path / "run", "requests.part*.parquet", process)
    finally:
        process.kill()
        process.communicate()
    run = load(tmp_path / "run")

    assert process.returncode == -signal.SIGKILL
    assert not run.is_complete
    assert run.summary is None
    assert len(run.table("steps")) >= 20
    assert set(run.table("requests").column("status").to_pylist()) == {"finished"}
    assert "admitted" in run.table("events").column("kind").to_pylist()


def test_output_that_nobody_reads_to_its_end_is_no_fault(tmp_path: Path) -> None:
    trace = write_rows(tmp_path / "trace.jsonl", row())
    arguments, how = in_process("replay", trace, "--num-blocks", 400)
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **how)
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    err = process.stderr.read()
    process.stderr.close()
    process.wait(DEADLINE_S)

    assert "Traceback" not in err
    assert "BrokenPipeError" not in err
