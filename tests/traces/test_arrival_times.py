import pytest

from tests.traces.conftest import TraceFile
from traces import TraceError, read_trace


def rows(*timestamps: float) -> str:
    return "".join(f'{{"timestamp": {t}, "input_length": 1, "output_length": 1}}\n' for t in timestamps)


def test_times_stay_as_they_are_in_the_file(trace_file: TraceFile) -> None:
    trace = read_trace(trace_file(rows(60_000, 61_000)))
    assert [request.arrival_s for request in trace.requests] == [60.0, 61.0]


def test_calendar_times_count_from_the_earliest_with_a_notice(trace_file: TraceFile) -> None:
    start = 1_700_000_000_000
    trace = read_trace(trace_file(rows(start + 2000, start + 500.25, start)))
    assert [request.arrival_s for request in trace.requests] == [0.0, round(0.50025 * 2**30) / 2**30, 2.0]
    assert any("calendar times" in notice and "2023-11-14 22:13:20+00:00" in notice for notice in trace.notices)


def test_the_longest_span_is_accepted(trace_file: TraceFile) -> None:
    assert read_trace(trace_file(rows(0, 2**22 * 1000))).last_arrival_s == 2**22


@pytest.mark.parametrize("latest", [2**22 * 1000 + 1, 1e300])
def test_a_span_beyond_the_clock_is_refused(trace_file: TraceFile, latest: float) -> None:
    path = trace_file(rows(0, latest, 5))
    with pytest.raises(TraceError, match=r"line 2: timestamp is .* spans at most .*48\.5 days.*check its unit"):
        read_trace(path)


def test_a_delay_beyond_the_clock_is_refused(trace_file: TraceFile) -> None:
    path = trace_file(
        '{"timestamp": 0, "input_length": 1, "output_length": 1, "session_id": "s"}\n'
        '{"delay": 1e13, "input_length": 1, "output_length": 1, "session_id": "s"}\n'
    )
    with pytest.raises(
        TraceError, match=r"line 2: delay is 10000000000000.0, but delay must be a number of milliseconds from 0 to"
    ):
        read_trace(path)


def test_the_origin_of_calendar_times_is_a_date(trace_file: TraceFile) -> None:
    trace = read_trace(trace_file(rows(1700000000072, 1700000000572)))
    assert "Time stamps are calendar times: they count from the earliest, 2023-11-14 22:13:20.072000+00:00." in (
        trace.notices
    )
