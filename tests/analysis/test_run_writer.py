import errno
import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from analysis.errors import RunError
from analysis.rows import EventRow
from analysis.run import load
from analysis.run_writer import ROWS_PER_GROUP, RunWriter
from tests.run_builder import META, RunBuilder, small_run


def steps(first: int, last: int) -> list[Any]:
    builder = RunBuilder(Path("unused"))
    for _ in range(first, last):
        builder.step(decode=1)
    return [row._replace(step=first + k, start_s=float(first + k)) for k, row in enumerate(builder.steps)]


def test_meta_is_there_at_once_and_says_incomplete(tmp_path: Path) -> None:
    RunWriter(tmp_path / "run", META)
    meta = json.loads((tmp_path / "run" / "meta.json").read_text())
    assert meta["format"] == "twinserve-run"
    assert meta["format_version"] == 3
    assert meta["complete"] is False
    assert meta["num_kv_blocks"] == 100


def test_finished_run_has_one_file_a_table_and_no_parts(tmp_path: Path) -> None:
    small_run(tmp_path / "run").build(summary={"completed": 2})
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == [
        "events.parquet",
        "meta.json",
        "requests.parquet",
        "steps.parquet",
        "summary.json",
    ]
    assert json.loads((tmp_path / "run" / "meta.json").read_text())["complete"] is True
    assert json.loads((tmp_path / "run" / "summary.json").read_text()) == {"completed": 2}


def test_stopped_run_is_marked_partial(tmp_path: Path) -> None:
    run = small_run(tmp_path / "run").build(complete=False)
    assert not run.is_complete
    assert run.table("steps").num_rows == 5


def test_rows_come_back_as_they_went_in(tmp_path: Path) -> None:
    builder = small_run(tmp_path / "run")
    tables = builder.build().tables
    assert [tuple(row.values()) for row in tables.steps.to_pylist()] == [tuple(row) for row in builder.steps]
    assert [tuple(row.values()) for row in tables.events.to_pylist()] == [tuple(row) for row in builder.events]
    assert [tuple(row.values()) for row in tables.requests.to_pylist()] == [tuple(row) for row in builder.requests]


def test_parts_go_out_when_enough_rows_have_come(tmp_path: Path) -> None:
    writer = RunWriter(tmp_path / "run", META, rows_per_part=10)
    writer.add_steps(steps(0, 9))
    assert not list((tmp_path / "run").glob("*.parquet"))
    writer.add_events([(0, "a", "preempted", None, None, None)] * 10)
    writer.add_steps(steps(9, 10))
    assert sorted(path.name for path in (tmp_path / "run").glob("*.parquet")) == [
        "events.part000000.parquet",
        "steps.part000000.parquet",
    ]


def test_parts_go_out_when_enough_time_has_passed(tmp_path: Path) -> None:
    now_s = [0.0]
    writer = RunWriter(tmp_path / "run", META, seconds_per_part=10.0, clock=lambda: now_s[0])
    writer.add_steps(steps(0, 1))
    now_s[0] = 9.9
    writer.add_steps(steps(1, 2))
    assert load(writer.path).table("steps").num_rows == 0
    now_s[0] = 10.0
    writer.add_steps(steps(2, 3))
    assert load(writer.path).table("steps").num_rows == 3


def test_requests_alone_do_not_go_out_before_their_steps(tmp_path: Path) -> None:
    builder = small_run(tmp_path / "run")
    writer = RunWriter(builder.path, META, rows_per_part=1, seconds_per_part=0.0)
    writer.add_requests(builder.requests)
    writer.add_events(builder.events)
    assert load(writer.path).table("requests").num_rows == 0
    writer.add_steps(builder.steps)
    assert load(writer.path).table("requests").num_rows == 3


def test_merged_table_is_the_same_whatever_the_parts(tmp_path: Path) -> None:
    files = []
    for rows_per_part in (7, 1000):
        writer = RunWriter(tmp_path / str(rows_per_part), META, rows_per_part=rows_per_part)
        for first in range(0, 100, 5):
            writer.add_steps(steps(first, first + 5))
        writer.finish({}, complete=True)
        files.append((writer.path / "steps.parquet").read_bytes())
    assert files[0] == files[1]


def test_large_table_is_cut_into_groups(tmp_path: Path) -> None:
    writer = RunWriter(tmp_path / "run", META)
    num_events = 2 * ROWS_PER_GROUP + 5
    writer.add_events([(0, "a", "chunk", k, None, None) for k in range(num_events)])
    writer.finish({}, complete=True)
    with pq.ParquetFile(tmp_path / "run" / "events.parquet") as file:
        assert file.num_row_groups == 3
    assert load(writer.path).table("events").column("num_tokens").to_pylist() == list(range(num_events))


def test_requests_are_sorted_into_trace_order(tmp_path: Path) -> None:
    builder = small_run(tmp_path / "run")
    writer = RunWriter(builder.path, META)
    writer.add_steps(builder.steps)
    writer.add_requests(builder.requests[2:])
    writer.flush()
    writer.add_requests(builder.requests[:2])
    writer.finish({}, complete=True)
    assert load(writer.path).table("requests").column("request_id").to_pylist() == ["a", "b", "c"]


def test_killed_run_can_be_read(tmp_path: Path) -> None:
    program = textwrap.dedent(
        """
        import os, signal, sys
        from pathlib import Path
        from tests.run_builder import small_run
        from analysis.run_writer import RunWriter
        builder = small_run(Path(sys.argv[1]))
        writer = RunWriter(builder.path, builder.meta, rows_per_part=3)
        writer.add_events(builder.events)
        writer.add_steps(builder.steps[:4])
        writer.add_steps(builder.steps[4:])
        os.kill(os.getpid(), signal.SIGKILL)
        """
    )
    root = Path(__file__).parents[2]
    killed = subprocess.run([sys.executable, "-c", program, str(tmp_path / "run")], cwd=root, check=False)
    assert killed.returncode == -signal.SIGKILL
    run = load(tmp_path / "run")
    assert not run.is_complete
    assert run.summary is None
    assert run.table("steps").num_rows == 4
    assert run.table("events").num_rows == 11
    assert run.table("requests").num_rows == 0


def test_half_written_part_is_not_read(tmp_path: Path) -> None:
    writer = RunWriter(tmp_path / "run", META)
    writer.add_steps(steps(0, 2))
    writer.flush()
    (tmp_path / "run" / "steps.part000001.parquet.tmp").write_bytes(b"PAR1 cut off")
    assert load(writer.path).table("steps").num_rows == 2


def test_empty_directory_may_exist(tmp_path: Path) -> None:
    RunWriter(tmp_path, META).finish({}, complete=True)
    assert load(tmp_path).is_complete


def test_parents_are_made(tmp_path: Path) -> None:
    RunWriter(tmp_path / "x" / "y", META)
    assert (tmp_path / "x" / "y" / "meta.json").exists()


def test_directory_that_is_not_empty_is_refused(tmp_path: Path) -> None:
    (tmp_path / "precious.txt").write_text("x")
    with pytest.raises(RunError, match="exists and is not empty"):
        RunWriter(tmp_path, META)
    assert [path.name for path in tmp_path.iterdir()] == ["precious.txt"]


@pytest.mark.parametrize("name", ["file", "file/run"])
def test_file_in_the_way_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(RunError, match="cannot be written"):
        RunWriter(tmp_path / name, META)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_directory_without_permission_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(RunError, match="cannot be written"):
        RunWriter(tmp_path / "run", META)


def test_directory_that_vanishes_is_an_error(tmp_path: Path) -> None:
    writer = RunWriter(tmp_path / "run", META)
    (tmp_path / "run" / "meta.json").unlink()
    (tmp_path / "run").rmdir()
    writer.add_steps(steps(0, 1))
    with pytest.raises(RunError, match="cannot be written"):
        writer.flush()


def test_run_ends_with_the_last_rows_that_could_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = RunWriter(tmp_path / "run", META)
    writer.add_steps(steps(0, 3))
    writer.add_events([EventRow(0, "a", "preempted")])
    writer.flush()
    disk = FullDisk(after=1)
    monkeypatch.setattr(pq, "write_table", disk.write_table)
    writer.add_steps(steps(3, 5))
    writer.add_events([EventRow(3, "a", "preempted")])
    with pytest.raises(RunError, match=r"cannot be written to .*run: No space left on device"):
        writer.flush()
    disk.is_full = False
    writer.add_steps(steps(5, 6))
    with pytest.raises(RunError, match="No space left on device"):
        writer.flush()
    run = load(tmp_path / "run")
    assert run.table("steps").column("step").to_pylist() == [0, 1, 2]
    assert run.table("events").column("step").to_pylist() == [0]
    assert not run.is_complete


class FullDisk:
    """Writes `after` more tables and then has no space left."""

    def __init__(self, after: int) -> None:
        self._left = after
        self._write_table = pq.write_table
        self.is_full = True

    def write_table(self, *args: Any, **kwargs: Any) -> None:
        if self.is_full and self._left == 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self._left -= 1
        self._write_table(*args, **kwargs)


@pytest.mark.parametrize("name", ["x" * 300, b"\xff".decode(errors="surrogateescape")])
def test_name_that_no_run_can_have_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(RunError, match=r"File name too long|is not UTF-8"):
        RunWriter(tmp_path / name, META)
    with pytest.raises(RunError, match=r"File name too long|is not UTF-8"):
        load(tmp_path / name)


def test_trace_path_lies_in_the_directory(tmp_path: Path) -> None:
    assert RunWriter(tmp_path / "run", META).trace_path == tmp_path / "run" / "trace.jsonl.zst"


def test_row_of_wrong_length_is_our_bug(tmp_path: Path) -> None:
    writer = RunWriter(tmp_path / "run", META)
    with pytest.raises(AssertionError, match="a row of events"):
        writer.add_events([(0, "a", "chunk")])
