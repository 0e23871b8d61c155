import math

import pytest

from traces import Trace, TraceError, TraceRequest


def request(line: int, arrival_s: float | None, session_id: str | None = None) -> TraceRequest:
    return TraceRequest(
        request_id=f"r{line - 1}",
        line=line,
        input_length=1,
        output_length=1,
        arrival_s=arrival_s,
        delay_s=1.0 if arrival_s is None else None,
        session_id=session_id,
    )


TRACE = Trace(
    name="t.jsonl",
    requests=(
        request(1, 10.0),
        request(2, 20.0, "s"),
        request(4, None, "s"),
        request(5, None, "s"),
        request(3, 20.5),
        request(6, 30.0),
    ),
    notices=("before",),
)


def lines(trace: Trace) -> list[int]:
    return [request.line for request in trace.requests]


def test_the_start_belongs_to_the_window_and_the_end_does_not() -> None:
    assert lines(TRACE.window(start_s=10.0, end_s=20.5)) == [1, 2, 4, 5]
    assert lines(TRACE.window(end_s=20.0)) == [1]
    assert lines(TRACE.window(start_s=20.0000001)) == [3, 6]


def test_arrivals_count_from_the_start_and_the_notice_says_so() -> None:
    trace = TRACE.window(20.25, 31)
    assert [request.arrival_s for request in trace.requests] == [0.25, 9.75]
    assert [request.request_id for request in trace.requests] == ["r2", "r5"]
    assert trace.notices == (
        "before",
        "Window (from 20.25 s, before 31 s): 2 of 6 requests kept; times count from 20.25 s on.",
    )


def test_without_a_start_no_arrival_moves() -> None:
    trace = TRACE.window(limit=1)
    assert trace.requests == TRACE.requests[:1]
    assert trace.notices[-1] == "Window (at most 1 requests): 1 of 6 requests kept."


def test_a_start_between_two_quanta_leaves_no_arrival_negative() -> None:
    trace = TRACE.window(start_s=math.nextafter(10.0, 0))
    assert trace.first_arrival_s == 0.0


def test_a_limit_ends_before_a_session_that_exceeds_it() -> None:
    assert lines(TRACE.window(limit=2)) == [1]
    assert lines(TRACE.window(limit=3)) == [1]
    assert lines(TRACE.window(limit=4)) == [1, 2, 4, 5]
    assert lines(TRACE.window(limit=5)) == [1, 2, 4, 5, 3]
    assert lines(TRACE.window(limit=99)) == [1, 2, 4, 5, 3, 6]


def test_windows_of_windows_count_from_the_latest_start() -> None:
    assert [request.arrival_s for request in TRACE.window(10).window(10.25).requests] == [0.25, 9.75]


@pytest.mark.parametrize(
    ("start_s", "end_s", "limit", "sentence"),
    [
        (-1.0, None, None, r"the start of a window is -1\.0 s, but it must be a number of seconds from 0"),
        (math.nan, None, None, "the start of a window is nan s"),
        (None, math.inf, None, "the end of a window is inf s"),
        (5.0, 5.0, None, r"a window ends at 5\.0 s, but it must end after its start, 5\.0 s"),
        (None, 0.0, None, r"a window ends at 0\.0 s, but it must end after its start, 0 s"),
        (None, None, 0, "the limit of a window is 0 requests, but it must be at least 1"),
        (None, None, -3, "the limit of a window is -3 requests, but it must be at least 1"),
        (
            100.0,
            None,
            None,
            r"no whole session or request of t\.jsonl lies in the window \(from 100 s\): its 6 requests arrive from "
            r"10\.0 s to 30\.0 s",
        ),
        (1e300, None, None, "no whole session or request"),
        (20.0, 20.1, 2, r"no whole session or request of t\.jsonl lies in the window .*at most 2 requests"),
    ],
)
def test_a_window_that_holds_nothing_is_refused(
    start_s: float | None, end_s: float | None, limit: int | None, sentence: str
) -> None:
    with pytest.raises(TraceError, match=sentence):
        TRACE.window(start_s, end_s, limit)
