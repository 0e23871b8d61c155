"""A CSV file of one's own, by the names of its columns, in each command that reads traces."""

from pathlib import Path

import pytest

from tests.sim.command import command, replay
from traces import read_trace

COLUMNS = "time=request_time,input=prompt_len,output=gen_len"


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "mine.csv"
    path.write_text("request_time,prompt_len,gen_len\n1700000000072,20,4\n1700000000572,30,2\n")
    return path


def test_every_command_takes_the_columns(own: Path, tmp_path: Path) -> None:
    flags = ("--columns", COLUMNS, "--time-unit", "ms")
    assert "request_time in milliseconds (as given)." in command("trace", "info", own, *flags).out
    assert command("trace", "check", own, *flags).out == f"{own}: 2 requests, no problem\n"
    assert command("trace", "convert", own, tmp_path / "t.jsonl", *flags).code == 0
    made = [(r.arrival_s, r.input_length, r.output_length) for r in read_trace(tmp_path / "t.jsonl").requests]
    assert made == [(0.0, 20, 4), (0.5, 30, 2)]
    done = replay(own, *flags, "--json")
    assert done.summary["completed"] == 2
    assert any("2023-11-14 22:13:20.072000+00:00" in note for note in done.notes)


def test_a_config_file_may_name_them(own: Path, tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text(f'columns = "{COLUMNS}"\ntime-unit = "ms"\n')
    assert replay(own, "--config", tmp_path / "c.toml", "--json").summary["completed"] == 2


def test_without_them_the_flag_is_named(own: Path) -> None:
    assert "is read with --columns time=NAME,input=NAME,output=NAME" in replay(own).error
    columns = "time=arrival,input=prompt_len,output=gen_len"
    assert "no column arrival, which --columns names" in replay(own, "--columns", columns).error
