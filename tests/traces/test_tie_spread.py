import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.traces.requests import later, single, trace_of
from tests.traces.strategies import traces
from traces import Trace, TraceError
from traces.tie_spread import TieSpread

TIED = trace_of(single(0, 0.0), single(1, 0.0), single(2, 0.0), single(3, 3.0), single(4, 6.0), single(5, 6.0))


def arrivals_of(trace: Trace) -> list[float | None]:
    return [request.arrival_s for request in trace.requests]


def test_even_spreads_over_the_shortest_distance() -> None:
    spread = TieSpread("even").apply(TIED)
    assert arrivals_of(spread) == [0.0, 1.0, 2.0, 3.0, 6.0, 7.5]
    assert spread.notices == ("5 arrivals at the same time as another were spread over 3 s, rule even.",)


def test_a_resolution_may_be_given_but_ends_at_the_next_time() -> None:
    assert arrivals_of(TieSpread("even", 1.5).apply(TIED)) == [0.0, 0.5, 1.0, 3.0, 6.0, 6.75]
    assert arrivals_of(TieSpread("even", 9.0).apply(TIED)) == [0.0, 1.0, 2.0, 3.0, 6.0, 10.5]


def test_uniform_is_drawn_with_a_seed_and_moves_ties_alone() -> None:
    spread = arrivals_of(TieSpread("uniform", seed=1).apply(TIED))
    assert spread == arrivals_of(TieSpread("uniform", seed=1).apply(TIED))
    assert spread != arrivals_of(TieSpread("uniform", seed=2).apply(TIED))
    assert spread[3] == 3.0
    many = trace_of(*(single(at, float(at // 500)) for at in range(1000)))
    times = [time or 0.0 for time in arrivals_of(TieSpread("uniform", seed=1).apply(many))]
    assert sum(times[:500]) / 500 == pytest.approx(0.5, abs=0.05)
    assert 0 <= min(times) < max(times[:500]) < 1 <= min(times[500:])


def test_later_turns_follow_their_session() -> None:
    trace = trace_of(single(0, 0.0), single(1, 0.0, session_id="a"), later(2, "a", 3.0), single(3, 2.0))
    spread = TieSpread("even").apply(trace)
    assert arrivals_of(spread) == [0.0, 1.0, None, 2.0]


@given(traces(), st.sampled_from(["even", "uniform"]), st.sampled_from([1e-7, 0.25, 3600.0]))
def test_order_stays_and_the_rest_of_a_request_too(trace: Trace, rule: str, resolution_s: float) -> None:
    spread = TieSpread(rule, resolution_s).apply(trace)
    assert [each.request_id for each in spread.requests] == [each.request_id for each in trace.requests]
    for before, after in zip(trace.requests, spread.requests, strict=True):
        assert (after.arrival_s is None) == (before.arrival_s is None)
        assert 0 <= (after.arrival_s or 0) - (before.arrival_s or 0) < resolution_s or after == before
    assert spread.digest


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(TraceError, match="ties are spread 'random', but it must be one of even, uniform"):
        TieSpread("random")
    with pytest.raises(TraceError, match=r"the resolution of ties is 0\.0 s"):
        TieSpread("even", 0.0)
    with pytest.raises(TraceError, match=r"all requests of t arrive at 0\.0 s.* give the resolution"):
        TieSpread("even").apply(trace_of(single(0, 0.0), single(1, 0.0)))
