import pytest

from tests.traces.conftest import TraceFile
from traces import ReadSettings, Trace, TraceError, Window, read_trace

V1 = "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type"
V3 = "Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log Type"


def v1(*rows: tuple[object, int, int]) -> str:
    return "\n".join([V1, *(f"{t},ChatGPT,{i},{o},{i + o},Conversation log" for t, i, o in rows)])


def v3(*rows: tuple[object, str, object, int, int]) -> str:
    kind = {True: "API log", False: "Conversation log"}
    return "\n".join([V3, *(f"{t},{s},{e},GPT-4,{i},{o},{i + o},{kind[not s]}" for t, s, e, i, o in rows)])


def lengths(trace: Trace) -> list[tuple[int, int]]:
    return [(request.input_length, request.output_length) for request in trace.requests]


def test_columns_are_read_by_name_in_both_versions(trace_file: TraceFile) -> None:
    old = read_trace(trace_file(v1((5, 472, 18), (45, 1087, 230))))
    new = read_trace(trace_file(v3(("19440110.0", "", 43, 472, 18), ("19440150.0", "", 2, 1087, 230))))
    assert lengths(old) == lengths(new) == [(472, 18), (1087, 230)]
    assert [request.arrival_s for request in old.requests] == [request.arrival_s for request in new.requests] == [0, 40]
    assert old.num_sessions == new.num_sessions == 0
    assert "Timestamp in seconds. Format burstgpt, recognised by its columns" in new.notices[0]


def test_failed_rows_are_dropped_and_counted(trace_file: TraceFile) -> None:
    trace = read_trace(trace_file(v1((5, 472, 18), (6, 0, 0), (7, 9, 0), (7, 0, 4), (8, 2, 1))))
    assert [(request.request_id, request.line) for request in trace.requests] == [("r0", 2), ("r4", 6)]
    assert "5 rows read: 2 kept, 3 dropped (2 because Response tokens is 0, 1 because Request tokens is 0)." in (
        trace.notices
    )


def test_ties_stay_in_the_order_of_lines(trace_file: TraceFile) -> None:
    assert lengths(read_trace(trace_file(v1((5, 3, 1), (5, 1, 1), (5, 2, 1))))) == [(3, 1), (1, 1), (2, 1)]


SESSIONS = v3(
    ("100.0", "a", 10, 906, 446),
    ("105.0", "b", 1, 36, 29),
    ("150.0", "a", 26, 300, 16),  # the prompt shrinks, which is no error
    ("170.0", "a", 3, 400, 9),  # starts before the turn before has ended at 176
    ("171.0", "", 5, 50, 50),
)


@pytest.mark.parametrize(
    ("settings", "delays"),
    [
        (ReadSettings(), [40.0, 0.0]),
        (ReadSettings(delay_rule="original"), [50.0, 20.0]),
        (ReadSettings(delay_rule="api-scaled", api_time_scale=0.5), [45.0, 13.0]),
        (ReadSettings(max_delay_s=30), [30.0, 0.0]),
        (ReadSettings(delay_rule="original", max_delay_s=10), [10.0, 10.0]),
    ],
)
def test_rows_with_a_session_id_are_turns(trace_file: TraceFile, settings: ReadSettings, delays: list[float]) -> None:
    trace = read_trace(trace_file(SESSIONS), settings)
    turns = [request for request in trace.requests if request.session_id == "a"]
    assert [(turn.input_length, turn.arrival_s) for turn in turns] == [(906, 0.0), (300, None), (400, None)]
    assert [turn.delay_s for turn in turns] == [None, *delays]
    assert [(r.input_length, r.arrival_s) for r in trace.requests if r.session_id != "a"] == [(36, 5.0), (50, 71.0)]


def test_turns_that_overlap_are_counted(trace_file: TraceFile) -> None:
    notices = " ".join(read_trace(trace_file(SESSIONS)).notices)
    assert "2 later turns of sessions come after the turn before has ended, delays by rule think-only." in notices
    assert "Of the later turns, 1: they started before the turn before them had ended, so their think time is 0." in (
        notices
    )
    assert "sorted" not in notices


def test_the_open_rule_makes_requests_of_turns(trace_file: TraceFile) -> None:
    trace = read_trace(trace_file(SESSIONS), ReadSettings(delay_rule="open"))
    assert [request.arrival_s for request in trace.requests] == [0.0, 5.0, 50.0, 70.0, 71.0]
    assert trace.num_sessions == 0
    part = read_trace(trace_file(SESSIONS), ReadSettings(delay_rule="open", window=Window(start_s=10)))
    assert [request.arrival_s for request in part.requests] == [40.0, 60.0, 61.0]


def test_a_failed_first_turn_leaves_the_next_as_the_first(trace_file: TraceFile) -> None:
    trace = read_trace(trace_file(v3((100, "a", 1, 0, 0), (150, "a", 1, 5, 5))))
    assert [(request.arrival_s, request.delay_s) for request in trace.requests] == [(0.0, None)]


def test_months_need_a_window_which_keeps_sessions_whole(trace_file: TraceFile) -> None:
    far = 60 * 86_400
    path = trace_file(v3((0, "a", 1, 1, 1), (far, "b", 1, 2, 2), (far + 5, "c", 1, 3, 3), (far + 90, "b", 1, 4, 4)))
    with pytest.raises(TraceError, match=r"but a trace spans at most 4194304 s .*; choose a part \(--start, --end"):
        read_trace(path)
    trace = read_trace(path, ReadSettings(window=Window(start_s=far - 1, end_s=far + 5)))
    assert [(request.input_length, request.arrival_s) for request in trace.requests] == [(2, 1.0), (4, None)]


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ("x,,1,GPT-4,1,1,2,API log", "Timestamp is 'x', but it must be a number, 0 or more"),
        ("-5,,1,GPT-4,1,1,2,API log", "Timestamp is '-5', but it must be a number, 0 or more"),
        ("nan,,1,GPT-4,1,1,2,API log", "Timestamp is 'nan', but it must be a number, 0 or more"),
        ("1e90,,1,GPT-4,1,1,2,API log", "Timestamp is '1e90', which is beyond any time; check its unit"),
        ("5,s,soon,GPT-4,1,1,2,API log", "Elapsed time is 'soon', but it must be a number, 0 or more"),
        ("5,s,1,GPT-4,GPT-4,1,2,API log", "Request tokens is 'GPT-4', but it must be a whole number of tokens"),
    ],
)
def test_a_wrong_row_is_named(trace_file: TraceFile, row: str, sentence: str) -> None:
    path = trace_file(f"{v3((1, '', 1, 1, 1))}\n{row}\n")
    with pytest.raises(TraceError) as caught:
        read_trace(path)
    assert str(caught.value).startswith(f"{path} line 3: {sentence}")
