import json

import pytest

from tests.traces.conftest import TraceFile
from traces import TraceError, read_trace


def rows(*fields: dict[str, object]) -> str:
    return "\n".join(json.dumps({"input_toks": 10, "output_toks": 5, "arrival_time_ns": 0} | row) for row in fields)


def test_lengths_and_nanoseconds_are_read(trace_file: TraceFile) -> None:
    content = '{"input_toks": 2358, "output_toks": 531, "arrival_time_ns": 46926808}\n'
    trace = read_trace(trace_file(content))
    (request,) = trace.requests
    assert (request.input_length, request.output_length, request.request_id) == (2358, 531, "r0")
    assert request.arrival_s == round(0.046926808 * 2**30) / 2**30
    assert trace.notices[0].startswith("Read as an LLMServingSim length file, arrival_time_ns in nanoseconds.")


def test_token_ids_are_ignored_with_a_notice(trace_file: TraceFile) -> None:
    trace = read_trace(trace_file(rows({"input_tok_ids": [1, 2]}, {}, {"output_tok_ids": [3]}, {"model": "m"})))
    assert "Token ids were ignored in 2 rows; prompts share no prefix." in trace.notices
    assert "Unknown fields were ignored: model (1 rows)." in trace.notices
    assert all(request.hash_ids is None for request in trace.requests)


def test_rows_of_length_zero_are_dropped_and_counted_by_reason(trace_file: TraceFile) -> None:
    trace = read_trace(trace_file(rows({"output_toks": 0}, {}, {"input_toks": 0}, {"output_toks": 0})))
    assert [(request.request_id, request.line) for request in trace.requests] == [("r1", 2)]
    assert trace.notices[-1] == (
        "4 rows read: 1 kept, 3 dropped (2 because output_toks is 0, 1 because input_toks is 0)."
    )


def test_unix_nanoseconds_count_from_the_earliest(trace_file: TraceFile) -> None:
    start = 1_700_000_000_123_456_789
    trace = read_trace(trace_file(rows({"arrival_time_ns": start}, {"arrival_time_ns": start + 250_000_000})))
    assert [request.arrival_s for request in trace.requests] == [0.0, 0.25]


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"input_toks": -1}, "input_toks is -1, but input_toks must be a whole number of tokens from 0 to 2147483647"),
        ({"output_toks": "5"}, 'output_toks is "5", but output_toks must be a whole number of tokens from 0 to'),
        ({"arrival_time_ns": -1}, "arrival_time_ns is -1, but arrival_time_ns must be a whole number of nanoseconds"),
        ({"arrival_time_ns": 0.5}, "arrival_time_ns is 0.5, but arrival_time_ns must be a whole number of nanoseconds"),
    ],
)
def test_a_wrong_field_is_named(trace_file: TraceFile, fields: dict[str, object], sentence: str) -> None:
    path = trace_file(rows({}, fields))
    with pytest.raises(TraceError) as caught:
        read_trace(path)
    assert str(caught.value).startswith(f"{path} line 2: {sentence}")


def session(name: str, *calls: tuple[int, int, int]) -> str:
    fields = ("input_toks", "output_toks", "tool_duration_ns")
    turns = [dict(zip(fields, call, strict=True)) for call in calls]
    return json.dumps({"session_id": name, "arrival_time_ns": 4_000_000_000, "sub_requests": turns})


def test_sessions_go_on_when_the_turn_before_and_its_tool_have_ended(trace_file: TraceFile) -> None:
    first = session("a", (1472, 133, 1_500_000_000), (1582, 0, 250_000_000), (1600, 125, 0))
    trace = read_trace(trace_file(f"{first}\n{rows({})}\n{session('b', (7, 1, 0))}"))
    assert [(each.request_id, each.session_id, each.arrival_s, each.delay_s) for each in trace.requests] == [
        ("r3", None, 0.0, None),
        ("r0", "a", 4.0, None),
        ("r2", "a", None, 1.75),
        ("r4", "b", 4.0, None),
    ]
    assert [each.input_length for each in trace.requests if each.session_id == "a"] == [1472, 1600]
    assert any(notice.startswith("1 later turns of sessions come after") for notice in trace.notices)
    assert "5 rows read: 4 kept, 1 dropped (1 because output_toks is 0)." in trace.notices
    assert trace.notices[-1] == "Rows were sorted by arrival: 1 rows stood behind a later arrival (first in line 2)."


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (f"{session('a', (1, 1, 0))}\n{session('a', (1, 1, 0))}", "line 2: session_id is 'a', which line 1 has too"),
        ('{"arrival_time_ns": 0, "sub_requests": []}', "line 1: session_id is missing; it must be a text"),
        ('{"arrival_time_ns": 0, "output_toks": 1}', "line 1: input_toks is missing; it must be a whole number"),
        (session("a", (1, 1, -1)), "line 1: sub_requests[0].tool_duration_ns is -1, but tool_duration_ns must be"),
        (session("a", (1, 1, -1)).replace("-1", '"x"'), 'tool_duration_ns is "x", but tool_duration_ns must be'),
    ],
)
def test_what_is_wrong_with_a_session_is_said(trace_file: TraceFile, content: str, sentence: str) -> None:
    with pytest.raises(TraceError) as caught:
        read_trace(trace_file(content))
    assert sentence in str(caught.value)
