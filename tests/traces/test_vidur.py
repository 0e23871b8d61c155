import pytest

from tests.traces.conftest import TraceFile
from traces import ReadSettings, TraceError, read_trace

TIMED = "arrived_at,num_prefill_tokens,num_decode_tokens\n0.0,374,44\n4.314579,396,109\n4.5,0,3\n"
LENGTHS = "num_prefill_tokens,num_decode_tokens,num_total_tokens,pd_ratio\n3772,54,3826,69.85\n2015,156.0,2171,12.91\n"


def test_arrivals_are_seconds(trace_file: TraceFile) -> None:
    trace = read_trace(trace_file(TIMED))
    assert [(r.input_length, r.output_length, r.arrival_s) for r in trace.requests] == [
        (374, 44, 0.0),
        (396, 109, round(4.314579 * 2**30) / 2**30),
    ]
    assert trace.notices[0].startswith("Read as Vidur CSV, arrived_at in seconds. Format vidur, recognised by")
    assert "3 rows read: 2 kept, 1 dropped (1 because num_prefill_tokens is 0)." in trace.notices


@pytest.mark.parametrize(("factor", "unit"), [(1, None), (1000, "ms")])
def test_seconds_since_1970_count_from_the_earliest(trace_file: TraceFile, factor: int, unit: str | None) -> None:
    times = [1_700_000_001.5 * factor, 1_700_000_000 * factor, 1_700_000_003 * factor]
    path = trace_file("arrived_at,num_prefill_tokens,num_decode_tokens\n" + "".join(f"{t},5,5\n" for t in times))
    trace = read_trace(path, ReadSettings(time_unit=unit))
    assert [request.arrival_s for request in trace.requests] == [0.0, 1.5, 3.0]
    origin = "arrived_at is calendar time: times count from the earliest request, 2023-11-14 22:13:20+00:00."
    assert origin in trace.notices


def test_times_that_a_trace_may_span_stay_as_they_are(trace_file: TraceFile) -> None:
    trace = read_trace(trace_file("arrived_at,num_prefill_tokens,num_decode_tokens\n7,5,5\n8,5,5\n"))
    assert [request.arrival_s for request in trace.requests] == [7.0, 8.0]
    assert not any("count from" in notice for notice in trace.notices)


def test_lengths_alone_arrive_at_zero_and_that_is_said(trace_file: TraceFile) -> None:
    trace = read_trace(trace_file(LENGTHS))
    assert [(r.input_length, r.output_length, r.arrival_s) for r in trace.requests] == [
        (3772, 54, 0.0),
        (2015, 156, 0.0),
    ]
    assert "The file gives no times: all requests arrive at 0; a request rate spreads them." in trace.notices
    assert "Unknown" not in " ".join(trace.notices)


def test_a_request_rate_draws_arrivals(trace_file: TraceFile) -> None:
    path = trace_file("num_prefill_tokens,num_decode_tokens\n" + "5,5\n" * 1000)
    trace = read_trace(path, ReadSettings(request_rate=4, seed=1))
    assert 225 < trace.last_arrival_s < 275
    assert all(request.arrival_s is not None and request.arrival_s > 0 for request in trace.requests)
    assert trace == read_trace(path, ReadSettings(request_rate=4, seed=1))


@pytest.mark.parametrize(
    ("content", "settings", "sentence"),
    [
        (TIMED, ReadSettings(request_rate=4), "a request rate is given (4 a second), but"),
        (LENGTHS, ReadSettings(time_unit="ms"), "a time unit is given (ms), but"),
        (
            LENGTHS,
            ReadSettings(delay_rule="open"),
            "delay rule is 'open', but a trace of format vidur has no use for it",
        ),
        (LENGTHS, ReadSettings(tokenizer="x"), "tokenizer is 'x', but a trace of format vidur has no use for it"),
        (LENGTHS, ReadSettings(request_rate=1e-5), "at a request rate of 1e-05 a second the trace is longer than"),
    ],
)
def test_settings_that_do_not_fit_are_refused(
    trace_file: TraceFile, content: str, settings: ReadSettings, sentence: str
) -> None:
    path = trace_file(content + "7,7,14,1\n" * 100 if content == LENGTHS else content)
    with pytest.raises(TraceError) as caught:
        read_trace(path, settings)
    assert str(caught.value).startswith(sentence)


def test_another_unit_can_be_given(trace_file: TraceFile) -> None:
    trace = read_trace(trace_file(TIMED.replace("4.314579", "4314")), ReadSettings(time_unit="ms"))
    assert trace.last_arrival_s == round(4.314 * 2**30) / 2**30
    assert "arrived_at in milliseconds (as given)" in trace.notices[0]
