import dataclasses
import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.traces.conftest import TraceFile
from tests.traces.strategies import traces
from traces import Trace, TraceError, TraceRequest, read_trace

BASE = TraceRequest(request_id="r0", line=1, input_length=600, output_length=5, arrival_s=1.0, hash_ids=(4, 9))


def trace_of(*requests: TraceRequest, **fields: object) -> Trace:
    return replace(Trace(name="t", requests=requests), **fields)  # type: ignore[arg-type]  # any field of Trace


def test_a_trace_and_its_requests_do_not_change() -> None:
    trace = trace_of(BASE)
    with pytest.raises(dataclasses.FrozenInstanceError):
        trace.name = "other"  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError):
        trace.requests[0].line = 3  # type: ignore[misc]


def test_requests_must_be_in_order() -> None:
    later = replace(BASE, request_id="r1", line=2, arrival_s=2.0)
    turn = replace(BASE, request_id="r2", line=3, arrival_s=None, delay_s=1.0, session_id="s")
    with pytest.raises(TraceError, match="the requests of t are not in order of arrival and line"):
        trace_of(later, BASE)
    with pytest.raises(TraceError, match="request r2 is a later turn, but its session has no first turn"):
        trace_of(BASE, turn)
    with pytest.raises(TraceError, match="t has two requests with the same request_id"):
        trace_of(BASE, replace(later, request_id="r0"))
    with pytest.raises(TraceError, match="t has no requests"):
        trace_of()


def test_counts_and_times() -> None:
    turn = replace(BASE, request_id="r1", line=2, arrival_s=None, delay_s=1.0, session_id="s")
    first = replace(BASE, session_id="s")
    alone = replace(BASE, request_id="r2", line=3, arrival_s=4.0)
    trace = trace_of(first, turn, alone)
    assert (trace.num_requests, trace.num_sessions) == (3, 1)
    assert (trace.first_arrival_s, trace.last_arrival_s) == (1.0, 4.0)


def test_hash_id_count_of_a_trace_made_by_hand_is_checked() -> None:
    assert trace_of(BASE).hash_id_count == "ceil"
    with pytest.raises(TraceError, match="t line 1: hash_ids has 1 ids, but 2000 tokens"):
        _ = trace_of(replace(BASE, input_length=2000, hash_ids=(1,))).hash_id_count


@pytest.mark.parametrize(
    "change",
    [
        {"request_id": "x"},
        {"input_length": 601},
        {"output_length": 6},
        {"arrival_s": 1.0 + 2**-30},
        {"session_id": "s"},
        {"priority": 1},
        {"hash_ids": (4, 10)},
        {"hash_ids": None},
        {"prompt": "p"},
    ],
)
def test_every_field_moves_the_digest(change: dict[str, object]) -> None:
    changed = trace_of(replace(BASE, **change))  # type: ignore[arg-type]  # any field of TraceRequest
    assert changed.digest != trace_of(BASE).digest
    assert changed != trace_of(BASE)


def test_the_block_size_and_the_delay_move_the_digest() -> None:
    turn = replace(BASE, request_id="r1", line=2, arrival_s=None, delay_s=1.0, session_id="s")
    first = replace(BASE, session_id="s")
    assert trace_of(first, turn).digest != trace_of(first, replace(turn, delay_s=2.0)).digest
    assert trace_of(BASE).digest != trace_of(BASE, block_size=400).digest


def test_name_notices_and_lines_do_not_move_the_digest(trace_file: TraceFile) -> None:
    row = '{"timestamp": %s, "input_length": 3, "output_length": 2}'
    plain = read_trace(trace_file(f"{row % 0}\n{row % 4.0}", "a.jsonl"))
    spaced = read_trace(trace_file(f"\n{row % '0.0'}\r\n\n{row % 4}\n", "b.jsonl"))
    assert plain == spaced
    assert plain.digest == spaced.digest


def test_the_digest_stays_what_it_was() -> None:
    # Run directories carry it: a change here makes old runs look like runs of another trace.
    assert trace_of(BASE).digest == "5376d027de1a87184d8d2f0f77019c5a"


def test_scaling_divides_arrivals_and_keeps_delays() -> None:
    turn = replace(BASE, request_id="r1", line=2, arrival_s=None, delay_s=1.0, session_id="s")
    scaled = trace_of(replace(BASE, session_id="s", arrival_s=3.0), turn).scaled(2.0)
    assert [(request.arrival_s, request.delay_s) for request in scaled.requests] == [(1.5, None), (None, 1.0)]
    assert scaled.notices == ("Rate scaled by 2: arrivals divided by it, delays inside sessions kept.",)


def test_scaling_by_one_changes_nothing() -> None:
    trace = trace_of(BASE)
    assert trace.scaled(1.0) is trace


def test_arrivals_that_fall_together_are_ordered_by_line() -> None:
    early = replace(BASE, request_id="a", line=9, arrival_s=1.0)
    late = replace(BASE, request_id="b", line=2, arrival_s=1.0 + 2**-30)
    assert [request.request_id for request in trace_of(early, late).scaled(1000).requests] == ["b", "a"]


@pytest.mark.parametrize("rate_scale", [0.0, -1.0, math.nan, math.inf])
def test_a_rate_scale_that_is_no_number_above_zero_is_refused(rate_scale: float) -> None:
    with pytest.raises(TraceError, match=f"the rate scale is {rate_scale}, but it must be a number above 0"):
        trace_of(BASE).scaled(rate_scale)


@pytest.mark.parametrize("rate_scale", [1e-7, 1e-320])
def test_a_rate_scale_that_stretches_a_trace_beyond_the_clock_is_refused(rate_scale: float) -> None:
    with pytest.raises(TraceError, match=r"stretches t beyond 4194304 s \(48\.5 days\)"):
        trace_of(BASE).scaled(rate_scale)


@given(traces(), st.floats(1.0, 1e6))
def test_scaled_arrivals_are_quantised_and_nothing_is_lost(trace: Trace, rate_scale: float) -> None:
    scaled = trace.scaled(rate_scale)
    assert {request.request_id for request in scaled.requests} == {request.request_id for request in trace.requests}
    assert all(r.arrival_s * 2**30 % 1 == 0 for r in scaled.requests if r.arrival_s is not None)
