import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.traces.conftest import TraceFile
from traces import TraceError, read_trace


def rows(*fields: Mapping[str, object]) -> str:
    return "\n".join(json.dumps({"timestamp": 0, "input_length": 3, "output_length": 2, **row}) for row in fields)


def error_of(path: Path, trace_block_size: int | None = None) -> str:
    with pytest.raises(TraceError) as caught:
        read_trace(path, trace_block_size=trace_block_size)
    return str(caught.value)


def test_rows_are_sorted_by_arrival_and_ties_by_line(trace_file: TraceFile) -> None:
    trace = read_trace(trace_file(rows(*({"timestamp": t} for t in (5, 3, 5, 9, 3, 1)))))
    assert [request.line for request in trace.requests] == [6, 2, 5, 1, 3, 4]
    assert [request.request_id for request in trace.requests] == ["r5", "r1", "r4", "r0", "r2", "r3"]
    assert "Rows were sorted by arrival: 3 rows stood behind a later arrival (first in line 2)." in trace.notices


def test_ties_are_no_disorder(trace_file: TraceFile) -> None:
    trace = read_trace(trace_file(rows({}, {}, {"timestamp": 1}, {"timestamp": 1})))
    assert not any("sorted" in notice for notice in trace.notices)


def test_duplicate_ids_name_both_lines(trace_file: TraceFile) -> None:
    path = trace_file(rows({"request_id": "a"}, {}, {"request_id": "a"}))
    assert error_of(path).startswith(f"{path} line 3: request_id is 'a', which line 1 has too; each request needs its")


def test_a_given_id_may_not_be_the_default_of_another_row(trace_file: TraceFile) -> None:
    assert "line 2: request_id is 'r1', which line 1 has too" in error_of(trace_file(rows({"request_id": "r1"}, {})))


def test_the_name_is_that_of_the_file(trace_file: TraceFile) -> None:
    assert read_trace(trace_file(rows({}), "chat.jsonl")).name == "chat.jsonl"
    assert read_trace(str(trace_file(rows({}), "chat2.jsonl"))).name == "chat2.jsonl"


IDS_OF_16 = rows({"input_length": 40, "hash_ids": [1, 2, 3]}, {"input_length": 5})


def test_the_block_size_is_512_by_default(trace_file: TraceFile) -> None:
    trace = read_trace(trace_file(rows({"input_length": 600, "hash_ids": [1, 2]}, {"input_length": 5})))
    assert (trace.block_size, trace.hash_id_count) == (512, "ceil")
    assert trace.notices[-1] == (
        "Each of hash_ids stands for 512 prompt tokens (by default), counted by ceil: a partial last block has an id "
        "too; 1 requests have none and share no prefix."
    )


def test_a_wrong_block_size_is_refused_with_the_right_ones(trace_file: TraceFile) -> None:
    path = trace_file(IDS_OF_16)
    assert error_of(path).startswith(f"{path} line 1: hash_ids has 3 ids, but 40 tokens in blocks of 512 make 1 (ceil)")
    assert "14 to 19 (ceil) or 11 to 13 (floor)" in error_of(path)


def test_a_side_file_states_the_block_size(trace_file: TraceFile) -> None:
    trace_file('{"block_size": 16, "seed": 7}', "t.meta.json")
    trace = read_trace(trace_file(IDS_OF_16))
    assert trace.block_size == 16
    assert "(by t.meta.json)" in trace.notices[-1]


def test_the_argument_wins_over_the_side_file(trace_file: TraceFile) -> None:
    trace_file('{"block_size": 512}', "t.meta.json")
    trace = read_trace(trace_file(IDS_OF_16), trace_block_size=18)
    assert trace.block_size == 18
    assert "18 prompt tokens (as given)" in trace.notices[-1]


def test_floor_is_recorded(trace_file: TraceFile) -> None:
    trace = read_trace(trace_file(rows({"input_length": 40, "hash_ids": [1, 2]})), trace_block_size=16)
    assert trace.hash_id_count == "floor"
    assert "counted by floor: a partial last block has none." in trace.notices[-1]


def test_a_trace_without_ids_says_nothing_about_blocks(trace_file: TraceFile) -> None:
    trace = read_trace(trace_file(rows({})))
    assert trace.hash_id_count is None
    assert not any("hash_ids" in notice for notice in trace.notices)


@pytest.mark.parametrize("block_size", [0, -16])
def test_a_block_size_below_one_is_refused(trace_file: TraceFile, block_size: int) -> None:
    message = error_of(trace_file(IDS_OF_16), block_size)
    assert message == f"the trace block size is {block_size}, but it must be at least 1 token"
