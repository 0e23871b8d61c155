import json
import os
import tempfile
import tracemalloc
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.traces.conftest import TraceFile
from tests.traces.strategies import traces
from traces import ReadSettings, Trace, TraceError, TraceRequest, Window, read_trace, write_trace
from traces.feed import feed
from traces.trace_facts import TraceFacts

AZURE = "TIMESTAMP,ContextTokens,GeneratedTokens\n"


class Taken:
    """Takes what a file is fed with."""

    def __init__(self, block_size: int) -> None:
        self.block_size = block_size
        self.requests: list[TraceRequest] = []
        self.add = self.requests.append


class Nothing:
    """Takes requests and holds none."""

    def __init__(self, block_size: int) -> None:
        self.num = 0

    def add(self, request: TraceRequest) -> None:
        self.num += 1


def fed(path: Path, settings: ReadSettings | None = None, format: str = "auto") -> tuple[TraceFacts, Taken]:
    return feed(path, settings or ReadSettings(), format, Taken)


def check_same_as_read(path: Path, settings: ReadSettings | None = None) -> TraceFacts:
    """What is fed is what reading gives, request by request and with the lines."""
    facts, taken = fed(path, settings)
    trace = read_trace(path, settings)
    assert taken.requests == list(trace.requests)
    assert [each.line for each in taken.requests] == [each.line for each in trace.requests]
    assert facts.block_size == taken.block_size == trace.block_size
    assert facts.hash_id_count == trace.hash_id_count
    assert dict(facts.dropped) == dict(trace.dropped)
    # Reading says number and mean lengths of the requests beside.
    assert set(facts.notices) <= set(trace.notices)
    assert facts.notices[0] == trace.notices[0]
    return facts


@given(traces())
def test_native_rows_in_order_are_taken_one_by_one(trace: Trace) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.jsonl.zst"
        write_trace(trace, path)
        facts = check_same_as_read(path)
    is_numbered = [each.request_id for each in trace.requests] == [f"r{at}" for at in range(trace.num_requests)]
    assert facts.is_streamed or not is_numbered


rows = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from([0, 1, 7]), st.sampled_from([0, 1, 9])), min_size=1, max_size=6
)


@given(rows)
def test_azure_rows_in_any_order_are_taken_as_they_are_read(rows: list[tuple[int, int, int]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.csv"
        lines = (
            f"2024-05-12 00:00:0{second}.5+00:00,{num_input},{num_output}\n" for second, num_input, num_output in rows
        )
        path.write_text(AZURE + "".join(lines))
        usable = [second for second, num_input, num_output in rows if num_input and num_output]
        if not usable:
            with pytest.raises(TraceError, match="has no request with a prompt and an output"):
                fed(path)
            return
        assert check_same_as_read(path).is_streamed == (usable == sorted(usable))


def test_burstgpt_is_streamed_without_sessions_and_read_whole_with_them(trace_file: TraceFile) -> None:
    header = "Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
    api = trace_file(header + "5,,2,M,36,29,65,API log\n6,,2,M,0,0,0,API log\n9,,2,M,3,2,5,API log\n", "a.csv")
    assert check_same_as_read(api).is_streamed
    chat = trace_file(header + "5,,2,M,36,29,65,API log\n6,x,2,M,3,2,5,Conversation log\n", "b.csv")
    assert not check_same_as_read(chat).is_streamed


def test_vidur_rows_with_drawn_arrivals_are_streamed(trace_file: TraceFile) -> None:
    path = trace_file("num_prefill_tokens,num_decode_tokens\n9,8\n0,8\n7,6\n", "v.csv")
    assert check_same_as_read(path, ReadSettings(request_rate=2.0, seed=5)).is_streamed
    assert check_same_as_read(path).is_streamed


def native(*rows: Mapping[str, object]) -> Iterator[str]:
    return (json.dumps({"input_length": 20, "output_length": 4, **row}) + "\n" for row in rows)


@pytest.mark.parametrize(
    "rows",
    [
        [{"timestamp": 9}, {"timestamp": 5}],
        [{"timestamp": 10**15}, {"timestamp": 10**15 + 5}],
        [{"timestamp": 0, "request_id": "x"}, {"timestamp": 5}],
        [{"timestamp": 0, "request_id": "r5"}, {"timestamp": 5}],
        [{"timestamp": 0, "session_id": "s"}, {"timestamp": 5}, {"delay": 5, "session_id": "s"}],
    ],
    ids=["late", "calendar times", "named", "numbers fall", "interleaved"],
)
def test_what_must_be_held_is_read_whole(rows: list[dict[str, object]], trace_file: TraceFile) -> None:
    path = trace_file("".join(native(*rows)))
    assert not check_same_as_read(path).is_streamed


def test_a_fault_is_told_as_in_reading(trace_file: TraceFile) -> None:
    for rows in (
        [{"timestamp": 0}, {"timestamp": "x"}],
        [{"timestamp": 0, "hash_ids": [1]}, {"timestamp": 0, "hash_ids": [1, 2]}],
        [{"timestamp": 0, "hash_ids": [1]}, {"timestamp": 0, "hash_ids": []}],
        [{"timestamp": 0, "request_id": "r1"}, {"timestamp": 0}],
        [{"delay": 0, "session_id": "s"}],
    ):
        path = trace_file("".join(native(*rows)))
        with pytest.raises(TraceError) as read:
            read_trace(path)
        with pytest.raises(TraceError) as streamed:
            fed(path)
        assert str(streamed.value) == str(read.value)
        assert streamed.value.line == read.value.line is not None


def test_a_window_is_read_as_ever(trace_file: TraceFile) -> None:
    path = trace_file("".join(native(*({"timestamp": 1000 * at} for at in range(9)))))
    settings = ReadSettings(window=Window(start_s=2, end_s=5))
    assert not check_same_as_read(path, settings).is_streamed
    assert len(fed(path, settings)[1].requests) == 3


def test_a_side_file_of_other_content_is_told(trace_file: TraceFile) -> None:
    path = trace_file("".join(native({"timestamp": 0}, {"timestamp": 5})))
    trace = read_trace(path)
    side = {"file": "t.jsonl", "block_size": 512, "digest": trace.digest}
    trace_file(json.dumps(side), "t.meta.json")
    assert not any("tells of another content" in each for each in check_same_as_read(path).notices)
    trace_file("".join(native({"timestamp": 0}, {"timestamp": 6})))
    assert any("t.meta.json tells of another content of t.jsonl" in each for each in check_same_as_read(path).notices)
    trace_file(json.dumps(side | {"file": "other.jsonl"}), "t.meta.json")
    assert not any("tells of another content" in each for each in check_same_as_read(path).notices)


def test_a_setting_without_use_is_refused(trace_file: TraceFile) -> None:
    path = trace_file(AZURE + "2024-05-12 00:00:00,1,1\n", "a.csv")
    with pytest.raises(TraceError, match="time unit is 's', but a trace of format azure has no use for it"):
        fed(path, ReadSettings(time_unit="s"))
    with pytest.raises(TraceError, match="trace format 'xml' is not known"):
        fed(path, format="xml")
    assert fed(path, format="azure")[0].format == "azure"


def test_a_pipe_is_refused_as_its_beginning_would_be_lost(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(TraceError, match="pipe is a pipe or a device, but a trace is opened more than once"):
        fed(path)


def test_rows_in_order_are_not_held(trace_file: TraceFile) -> None:
    rows = (f"2024-05-12 {second // 3600:02}:{second // 60 % 60:02}:{second % 60:02},7,9\n" for second in range(4000))
    path = trace_file(AZURE + "".join(rows), "a.csv")
    tracemalloc.start()
    try:
        _, taken = feed(path, ReadSettings(), "auto", Nothing)
        _, peak_streamed = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        read_trace(path)
        _, peak_read = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert taken.num == 4000
    assert peak_streamed < 300_000
    assert peak_read > 5 * peak_streamed
