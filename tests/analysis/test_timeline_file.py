import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.errors import RunError
from analysis.timeline_file import Track, microseconds, nanoseconds, timeline_file
from tests.analysis.timeline_events import read_events

HUNDRED_DAYS_NS = 100 * 86_400 * 10**9


@given(st.integers(0, HUNDRED_DAYS_NS))
def test_a_reader_that_cuts_and_one_that_rounds_find_the_nanosecond(time_ns: int) -> None:
    read = json.loads(json.dumps(microseconds(time_ns)))
    assert int(read * 1000) == time_ns
    assert round(read * 1000) == time_ns


def test_some_numbers_need_help_to_be_found() -> None:
    missed = [time_ns for time_ns in range(2000) if int(time_ns / 1000 * 1000) != time_ns]
    assert missed
    assert [int(microseconds(time_ns) * 1000) for time_ns in missed] == missed


def test_clock_values_are_rounded_to_nanoseconds() -> None:
    assert nanoseconds(5 * 2**-30) == 5  # 4.66 ns
    assert nanoseconds(1.5) == 1_500_000_000


def draw(path: Path) -> None:
    with timeline_file(path, {"about": "µ"}) as file:
        file.describe("thread_name", 1, 1, {"name": "Grüße"})
        file.slice(Track(1, 1), "a", "phase", 1250, 3000, {})
        file.counter("KV", 1, 2000, {"used %": 1.5})


def test_plain_and_compressed_files_hold_the_same(tmp_path: Path) -> None:
    plain, packed = tmp_path / "t.json", tmp_path / "t.json.gz"
    draw(plain)
    draw(packed)
    assert gzip.decompress(packed.read_bytes()) == plain.read_bytes()
    assert read_events(packed) == [
        {"ph": "M", "name": "thread_name", "pid": 1, "tid": 1, "args": {"name": "Grüße"}},
        {"ph": "X", "name": "a", "cat": "phase", "pid": 1, "tid": 1, "ts": 1.25, "dur": 1.75, "args": {}},
        {"ph": "C", "name": "KV", "pid": 1, "ts": 2.0, "args": {"used %": 1.5}},
    ]
    first = packed.read_bytes()
    draw(packed)
    assert packed.read_bytes() == first


def test_an_error_leaves_the_old_file_and_no_draft(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    draw(path)
    before = path.read_bytes()
    with pytest.raises(KeyError), timeline_file(path, {}):
        raise KeyError
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_places_where_no_file_can_be(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="is a folder; name a file to write"):
        draw(tmp_path)
    with pytest.raises(RunError, match="is in no folder that exists"):
        draw(tmp_path / "no" / "t.json")
