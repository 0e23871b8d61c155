import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given

from tests.traces.strategies import traces
from traces import Trace, TraceError, TraceRequest, read_trace, write_trace

REQUEST = TraceRequest(request_id="r0", line=1, input_length=40, output_length=5, arrival_s=1.0, hash_ids=(4, 9, 2))
TRACE = Trace(name="t", requests=(REQUEST,), block_size=16)


@given(traces())
def test_a_written_trace_is_read_back_equal(trace: Trace) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name in ("t.jsonl", "u.jsonl.zst", "v.jsonl.gz"):
            path = Path(folder) / name
            write_trace(trace, path)
            again = read_trace(path)
            assert again == trace
            assert again.digest == trace.digest
            assert again.hash_id_count == trace.hash_id_count


@given(traces())
def test_a_window_that_is_written_is_read_back_equal(trace: Trace) -> None:
    part = trace.window(start_s=trace.first_arrival_s)
    with tempfile.TemporaryDirectory() as folder:
        write_trace(part, Path(folder) / "t.jsonl")
        assert read_trace(Path(folder) / "t.jsonl") == part


def test_rows_are_written_in_the_shortest_form(tmp_path: Path) -> None:
    turn = TraceRequest(request_id="b", line=2, input_length=3, output_length=2, delay_s=0.25, session_id="s")
    first = replace(REQUEST, session_id="s", priority=2, prompt="hé")
    write_trace(replace(TRACE, requests=(first, turn)), tmp_path / "t.jsonl")
    assert (tmp_path / "t.jsonl").read_text(encoding="utf-8") == (
        '{"timestamp":1000,"input_length":40,"output_length":5,"hash_ids":[4,9,2],"session_id":"s","priority":2,'
        '"prompt":"hé"}\n'
        '{"delay":250,"input_length":3,"output_length":2,"request_id":"b","session_id":"s"}\n'
    )


def test_the_bytes_are_the_same_every_time(tmp_path: Path) -> None:
    for name in ("t.jsonl", "t.jsonl.gz", "t.jsonl.zst"):
        for folder in ("a", "b"):
            (tmp_path / folder).mkdir(exist_ok=True)
            write_trace(TRACE, tmp_path / folder / name)
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_a_block_size_of_its_own_goes_into_a_side_file(tmp_path: Path) -> None:
    write_trace(TRACE, tmp_path / "t.jsonl.zst")
    assert (tmp_path / "t.meta.json").read_text() == '{"block_size":16}\n'
    write_trace(replace(TRACE, block_size=512, requests=(replace(REQUEST, hash_ids=(4,)),)), tmp_path / "u.jsonl")
    assert not (tmp_path / "u.meta.json").exists()


def test_a_side_file_that_says_the_same_stays(tmp_path: Path) -> None:
    (tmp_path / "t.meta.json").write_text('{"block_size": 16, "seed": 3}')
    write_trace(TRACE, tmp_path / "t.jsonl")
    assert (tmp_path / "t.meta.json").read_text() == '{"block_size": 16, "seed": 3}'


@pytest.mark.parametrize("content", ['{"block_size": 64}', "{}"])
def test_a_side_file_that_says_something_else_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "t.meta.json").write_text(content)
    with pytest.raises(TraceError, match=r"t\.meta\.json states a block size of .*, but t has 16; choose another name"):
        write_trace(TRACE, tmp_path / "t.jsonl")
    assert not (tmp_path / "t.jsonl").exists()


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    write_trace(TRACE, tmp_path / "t.jsonl")
    with pytest.raises(TraceError, match=r"t\.jsonl exists already; choose another name or delete it"):
        write_trace(TRACE, tmp_path / "t.jsonl")


def test_a_folder_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match=r"t\.jsonl cannot be written: No such file or directory"):
        write_trace(TRACE, tmp_path / "no" / "t.jsonl")


def test_a_trace_that_no_reader_would_take_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="t line 1: hash_ids has 3 ids"):
        write_trace(replace(TRACE, block_size=512), tmp_path / "t.jsonl")
    with pytest.raises(TraceError, match=r"0\.1 s is not a multiple of 2\*\*-30 s"):
        write_trace(replace(TRACE, requests=(replace(REQUEST, arrival_s=0.1),)), tmp_path / "t.jsonl")
    assert list(tmp_path.iterdir()) == []
