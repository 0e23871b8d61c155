import json
from typing import Any

import pytest

from tests.traces.conftest import TraceFile
from traces import ReadSettings, TraceError, TraceRequest, Window, read_trace


def call(t: float, num_input: int, first_id: int = 1, **fields: Any) -> dict[str, Any]:
    ids = list(range(first_id, first_id + num_input // 64))
    return {"t": t, "type": "n", "model": "m", "in": num_input, "out": 10, "hash_ids": ids, **fields}


def subagent(t: float, duration_ms: float, *calls: dict[str, Any]) -> dict[str, Any]:
    return {"t": t, "type": "subagent", "agent_id": "agent_001", "duration_ms": duration_ms, "requests": list(calls)}


def session(name: str, *requests: dict[str, Any], **fields: Any) -> dict[str, Any]:
    values = {"id": name, "models": ["m"], "block_size": 64, "hash_id_scope": "local", "tool_tokens": 1}
    return {**values, "system_tokens": 2, "requests": list(requests), "totals": {}, **fields}


def by_session(requests: tuple[TraceRequest, ...], name: str) -> list[TraceRequest]:
    return [request for request in requests if request.session_id == name]


TIMED = session(
    "s",
    call(0, 200, api_time=7.5, think_time=0),
    call(19, 300, api_time=9, think_time=12),
    call(36, 330, think_time=8),  # no service time
    call(62, 340, api_time=2, think_time=28),  # think time counts from the last known end, longer than the gap
    call(70, 350, api_time=1),  # no think time, but it can be reckoned
)


@pytest.mark.parametrize(
    ("settings", "delays"),
    [
        (ReadSettings(), [12, 8, 26, 6]),
        (ReadSettings(delay_rule="original"), [19, 17, 26, 8]),
        (ReadSettings(delay_rule="api-scaled"), [19.5, 17, 26, 8]),
        (ReadSettings(delay_rule="api-scaled", api_time_scale=0.2), [13.5, 9.8, 26, 6.4]),
        (ReadSettings(max_delay_s=10), [10, 8, 10, 6]),
    ],
)
def test_the_rules_of_agentic_replay(trace_file: TraceFile, settings: ReadSettings, delays: list[float]) -> None:
    trace = read_trace(trace_file(json.dumps(TIMED)), settings)
    assert trace.requests[0].arrival_s == 0.0
    assert [request.delay_s for request in trace.requests[1:]] == [round(delay * 2**30) / 2**30 for delay in delays]


def test_a_turn_without_recorded_times_is_counted(trace_file: TraceFile) -> None:
    notices = read_trace(trace_file(json.dumps(TIMED))).notices
    assert (
        "Of the later turns, 1: think or service time is not recorded, so they wait for the gap between the starts."
        in (notices)
    )
    capped = read_trace(trace_file(json.dumps(TIMED)), ReadSettings(max_delay_s=10)).notices
    assert "Delays inside sessions are at most 10 s: 2 of 4 were cut, by 18 s in all." in capped


def test_ids_are_of_their_session_alone_and_counted_by_floor(trace_file: TraceFile) -> None:
    content = "\n".join(json.dumps(session(name, call(0, 200), call(1, 264))) for name in "ab")
    trace = read_trace(trace_file(content))
    assert (trace.block_size, trace.hash_id_count) == (64, "floor")
    first, second = (by_session(trace.requests, name) for name in "ab")
    assert first[0].hash_ids == (0, 1, 2)
    assert first[1].hash_ids == (0, 1, 2, 3)  # shared with the turn before
    assert second[1].hash_ids == (4, 5, 6, 7)  # the same numbers in the file, but other content
    assert "Each of hash_ids stands for 64 prompt tokens (by the format), counted by floor" in trace.notices[-1]


def test_ids_of_global_scope_are_shared(trace_file: TraceFile) -> None:
    content = "\n".join(json.dumps(session(name, call(0, 200), hash_id_scope="global")) for name in "ab")
    assert {request.hash_ids for request in read_trace(trace_file(content)).requests} == {(0, 1, 2)}


def test_a_subagent_begins_its_duration_before_its_time(trace_file: TraceFile) -> None:
    # Recorded at its end: 79.25 s less 59.75 s is 19.5 s; its calls count from there.
    agent = subagent(79.25, 59_750, call(0, 100, 50, api_time=2), call(6, 130, 50, api_time=1, think_time=4))
    inner = subagent(12, 4_000, call(1, 70, 90))
    agent["requests"].append(inner)
    parent = session("p", call(0, 128, api_time=18.75), agent, call(228, 192, think_time=209))
    trace = read_trace(trace_file(json.dumps(parent)))
    main, child, grandchild = (
        by_session(trace.requests, name) for name in ("p", "p/agent_001#1", "p/agent_001#1/agent_001#2")
    )
    assert [(request.input_length, request.arrival_s, request.delay_s) for request in main] == [
        (128, 0.0, None),
        (192, None, 209.0),
    ]
    assert [(request.arrival_s, request.delay_s) for request in child] == [(19.5, None), (None, 4.0)]
    assert [request.arrival_s for request in grandchild] == [19.5 + 8 + 1]
    assert main[1].hash_ids == (0, 1, 2)
    assert child[0].hash_ids is not None
    assert not set(child[0].hash_ids) & set(main[1].hash_ids)
    assert trace.num_requests == 5
    assert any(notice.startswith("1 sessions with 2 subagents") for notice in trace.notices)


def test_calls_of_zero_length_are_dropped_and_counted(trace_file: TraceFile) -> None:
    trace = read_trace(trace_file(json.dumps(session("s", call(0, 64), call(1, 64, out=0), call(2, 64)))))
    assert [(request.request_id, request.delay_s) for request in trace.requests] == [("r0", None), ("r2", 2.0)]
    assert "3 rows read: 2 kept, 1 dropped (1 because out is 0)." in trace.notices


def test_sessions_arrive_at_zero_or_at_a_seeded_rate(trace_file: TraceFile) -> None:
    path = trace_file("\n".join(json.dumps(session(f"s{index}", call(0, 64))) for index in range(400)))
    assert {request.arrival_s for request in read_trace(path).requests} == {0.0}
    drawn = read_trace(path, ReadSettings(request_rate=2, seed=3))
    assert 150 < drawn.last_arrival_s < 250
    assert drawn == read_trace(path, ReadSettings(request_rate=2, seed=3))
    assert drawn != read_trace(path, ReadSettings(request_rate=2, seed=4))
    assert "The file gives no times: sessions arrive as a Poisson process, 2 a second, seed 3." in drawn.notices
    assert read_trace(path, ReadSettings(window=Window(limit=7))).num_requests == 7


def test_a_limit_keeps_whole_sessions_in_the_order_of_the_file(trace_file: TraceFile) -> None:
    path = trace_file("\n".join(json.dumps(session(f"s{i}", call(0, 64), call(1, 64))) for i in range(1000)))
    trace = read_trace(path, ReadSettings(window=Window(limit=5)))
    assert [request.session_id for request in trace.requests] == ["s0", "s0", "s1", "s1"]
    with pytest.raises(
        TraceError, match=r"no whole session or request of .* lies in the window \(at most 1 requests\)"
    ):
        read_trace(path, ReadSettings(window=Window(limit=1)))


def test_objects_may_be_laid_out_over_lines_or_stand_in_a_list(trace_file: TraceFile) -> None:
    sessions = [session("a", call(0, 64)), session("b", call(0, 64))]
    lines = read_trace(trace_file("\n".join(map(json.dumps, sessions))))
    assert read_trace(trace_file("\n".join(json.dumps(each, indent=2) for each in sessions))) == lines
    assert read_trace(trace_file(json.dumps(sessions, indent=1))) == lines
    assert read_trace(trace_file(json.dumps(sessions))) == lines


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (session("a", call(0, 64)), "id is 'a', which the session in line 1 has too"),
        (session("b", call(0, 64), block_size=32), "block_size is 32, but that of the sessions before is 64"),
        (session("b", call(0, 640, hash_ids=[1])), "requests[0].hash_ids has 1 ids, but 640 tokens in blocks of 64"),
        (session("b", call(0, 64), call(-1, 64)), "requests[1].t is -1, but t must be a number of seconds, 0 or more"),
        (session("b", call(0, 64) | {"out": "x"}), 'requests[0].out is "x", but out must be a whole number of tokens'),
        (session("b", {"t": 0, "type": "n"}), "requests[0].in is missing; it must be a whole number of tokens"),
        (session("b", {"t": 0, "type": "subagent"}), "requests[0].requests is missing; it must be a list of calls"),
        (session("b", call(0, 64), hash_id_scope="x"), 'hash_id_scope is "x", but hash_id_scope must be local or'),
    ],
)
def test_a_wrong_session_is_named(trace_file: TraceFile, content: dict[str, Any], sentence: str) -> None:
    path = trace_file(f"{json.dumps(session('a', call(0, 64)))}\n{json.dumps(content)}\n")
    with pytest.raises(TraceError) as caught:
        read_trace(path)
    assert str(caught.value).startswith(f"{path} line 2: {sentence}")


def test_the_pause_behind_a_dropped_call_is_not_lost(trace_file: TraceFile) -> None:
    calls = (
        call(0, 200, api_time=2, think_time=0),
        call(6, 200, api_time=1, think_time=4) | {"out": 0},
        call(100, 200, api_time=1, think_time=93),
        call(101.5, 200, think_time=0.5),
    )
    trace = read_trace(trace_file(json.dumps(session("s", *calls))))
    assert [request.delay_s for request in trace.requests] == [None, 98, 0.5]
