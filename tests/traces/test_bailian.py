import json

import pytest

from tests.traces.conftest import TraceFile
from traces import ReadSettings, TraceError, Window, read_trace


def row(chat: int, parent: int, t: float, turn: int = 1, length: int = 40, **fields: object) -> str:
    ids = [1000 + index for index in range(-(-length // 16))]
    values = {"chat_id": chat, "parent_chat_id": parent, "timestamp": t, "input_length": length, "output_length": 5}
    return json.dumps(values | {"type": "text", "turn": turn, "hash_ids": ids} | fields)


def test_seconds_and_blocks_of_16(trace_file: TraceFile) -> None:
    trace = read_trace(trace_file("\n".join([row(1, -1, 0.5), row(2, -1, 61.114)])))
    assert [request.arrival_s for request in trace.requests] == [0.5, round(61.114 * 2**30) / 2**30]
    assert (trace.block_size, trace.hash_id_count, trace.num_sessions) == (16, "ceil", 0)
    assert trace.requests[0].hash_ids == (1000, 1001, 1002)
    assert "timestamp in seconds" in trace.notices[0]
    assert "Each of hash_ids stands for 16 prompt tokens (by the format), counted by ceil" in trace.notices[-1]


def test_rows_linked_by_parents_are_one_session_in_the_order_of_turns(trace_file: TraceFile) -> None:
    rows = [row(1, -1, 1.0), row(9, -1, 2.0), row(5, 1, 11.0, turn=2), row(7, 5, 31.5, turn=3)]
    trace = read_trace(trace_file("\n".join(rows)))
    assert [(r.request_id, r.session_id, r.arrival_s, r.delay_s) for r in trace.requests] == [
        ("r0", "1", 1.0, None),
        ("r2", "1", None, 10.0),
        ("r3", "1", None, 20.5),
        ("r1", None, 2.0, None),
    ]
    assert any("2: think or service time is not recorded, so they wait for the gap" in n for n in trace.notices)


def test_children_of_a_parent_outside_the_file_belong_together(trace_file: TraceFile) -> None:
    trace = read_trace(trace_file("\n".join([row(5, 1, 3.0, turn=2), row(6, 1, 4.0, turn=3), row(8, 2, 5.0, turn=2)])))
    assert [(r.session_id, r.arrival_s, r.delay_s) for r in trace.requests] == [
        ("1", 3.0, None),
        ("1", None, 1.0),
        (None, 5.0, None),  # alone, so it is no session
    ]


def test_a_last_block_that_differs_is_no_error(trace_file: TraceFile) -> None:
    rows = [row(1, -1, 0.0), row(2, 1, 1.0, turn=2, length=50, hash_ids=[1000, 1001, 77, 78])]
    assert read_trace(trace_file("\n".join(rows))).requests[1].hash_ids == (1000, 1001, 77, 78)


def test_rows_out_of_order_are_sorted_and_said(trace_file: TraceFile) -> None:
    trace = read_trace(trace_file("\n".join([row(1, -1, 9.0), row(2, -1, 3.0), row(3, 1, 12.0, turn=2)])))
    assert [(request.request_id, request.arrival_s) for request in trace.requests] == [
        ("r1", 3.0),
        ("r0", 9.0),
        ("r2", None),
    ]
    assert "Rows were sorted by arrival: 1 rows stood behind a later arrival (first in line 2)." in trace.notices


def test_turns_follow_their_numbers_even_against_the_lines(trace_file: TraceFile) -> None:
    trace = read_trace(trace_file("\n".join([row(2, 1, 5.0, turn=2, length=17), row(1, -1, 2.0, length=3)])))
    assert [(r.input_length, r.arrival_s, r.delay_s) for r in trace.requests] == [(3, 2.0, None), (17, None, 3.0)]


def test_the_open_rule_keeps_recorded_arrivals(trace_file: TraceFile) -> None:
    path = trace_file("\n".join([row(1, -1, 1.0), row(5, 1, 11.0, turn=2)]))
    trace = read_trace(path, ReadSettings(delay_rule="open"))
    assert [(r.session_id, r.arrival_s) for r in trace.requests] == [(None, 1.0), (None, 11.0)]


def test_zero_lengths_are_dropped_and_windows_keep_sessions_whole(trace_file: TraceFile) -> None:
    rows = [row(1, -1, 1.0), row(2, 1, 9.0, turn=2), row(3, -1, 4.0), row(4, -1, 4.5, output_length=0)]
    trace = read_trace(trace_file("\n".join(rows)), ReadSettings(window=Window(end_s=2)))
    assert [request.request_id for request in trace.requests] == ["r0", "r1"]
    assert "4 rows read: 3 kept, 1 dropped (1 because output_length is 0)." in trace.notices


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (row(1, -1, 2.0), "chat_id is 1, which line 1 has too; each row needs its own"),
        (row(2, -1, -1.0), "timestamp is -1.0, but timestamp must be a number of seconds, 0 or more"),
        (row(2, -1, 1e300), "timestamp is 1e+300, which is beyond any time; check its unit"),
        (row(2, -1, 0.0, hash_ids=[2**70, 1, 2]), "hash_ids has 1180591620717411303424, but hash_ids must be"),
        (row(2, -1, 0.0, hash_ids=[1]), "hash_ids has 1 ids, but 40 tokens in blocks of 16 make 3 (ceil) or 2 (floor)"),
        (row(2, -1, 0.0).replace('"turn": 1', '"turn": "x"'), 'turn is "x", but turn must be a whole number'),
    ],
)
def test_a_wrong_row_is_named(trace_file: TraceFile, content: str, sentence: str) -> None:
    path = trace_file(f"{row(1, -1, 1.0)}\n{content}\n")
    with pytest.raises(TraceError) as caught:
        read_trace(path)
    assert str(caught.value).startswith(f"{path} line 2: {sentence}")
