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
