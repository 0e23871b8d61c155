import json
from collections.abc import Mapping

import pytest

from tests.traces.conftest import TraceFile
from traces import TraceError, read_trace

FIRST = {"timestamp": 0, "session_id": "s"}
LATER = {"delay": 10, "session_id": "s"}


def rows(*fields: Mapping[str, object]) -> str:
    return "\n".join(json.dumps({"input_length": 1, "output_length": 1, **row}) for row in fields)


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ([{"timestamp": 0, "delay": 5}], "line 1: delay is 5, but the row has no session_id"),
        ([{}, FIRST], "line 1: timestamp is missing"),
        ([LATER, FIRST], "line 1: timestamp is missing, but this is the first turn of session s; give timestamp"),
        ([{"session_id": "s"}], "line 1: timestamp is missing, but this is the first turn of session s"),
        ([FIRST | {"delay": 3}], "line 1: delay is 3, but this is the first turn of session s; leave delay out"),
        (
            [FIRST, LATER | {"timestamp": 7}],
            "line 2: both timestamp and delay are given, but this is a later turn of session s, begun in line 1; "
            "leave timestamp out",
        ),
        ([FIRST, LATER, FIRST], "line 3: timestamp is 0, but this is a later turn of session s, begun in line 1; give"),
        ([FIRST, {"session_id": "s"}], "line 2: delay is missing, but this is a later turn of session s"),
    ],
)
def test_a_turn_with_the_wrong_time_is_refused(
    trace_file: TraceFile, fields: list[dict[str, object]], sentence: str
) -> None:
    path = trace_file(rows(*fields))
    with pytest.raises(TraceError) as caught:
        read_trace(path, format="native")
    assert str(caught.value).startswith(f"{path} {sentence}")


def test_a_delay_of_zero_is_a_delay(trace_file: TraceFile) -> None:
    trace = read_trace(trace_file(rows(FIRST, LATER | {"delay": 0})))
    assert [request.delay_s for request in trace.requests] == [None, 0.0]


def test_sessions_may_be_interleaved_and_their_turns_keep_file_order(trace_file: TraceFile) -> None:
    other = {"timestamp": 5, "session_id": "t"}
    alone = {"timestamp": 3}
    trace = read_trace(trace_file(rows(other, FIRST, LATER, LATER | {"session_id": "t"}, LATER, alone)))
    assert [request.line for request in trace.requests] == [2, 3, 5, 6, 1, 4]
    assert trace.num_sessions == 2
    assert trace.num_requests == 6
