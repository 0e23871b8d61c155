import pytest

from tests.traces.requests import later, single
from traces.statistics.session_counts import SessionCounts


def test_figures_by_hand() -> None:
    counts = SessionCounts()
    for request in (
        single(0, 0.0, 10, 10, session_id="a"),
        later(1, "a", 2.0, 30, 10),
        later(2, "a", 4.0, 30, 10),
        single(3, 1.0, 50, 10),
        single(4, 2.0, 30, 10, session_id="b"),
    ):
        counts.add(request)
    found = counts.summary()
    assert (found.num, found.num_single, found.num_later_turns) == (2, 1, 2)
    assert (found.mean_turns, found.p50_turns, found.max_turns) == (2.0, 2.0, 3)
    assert (found.mean_delay_s, found.max_delay_s) == (3.0, 4.0)
    assert (found.open_request_share, found.closed_request_share) == (0.6, 0.4)
    assert (found.open_token_share, found.closed_token_share) == pytest.approx((0.6, 0.4))


def test_a_trace_without_sessions_is_open() -> None:
    counts = SessionCounts()
    counts.add(single(0, 0.0))
    found = counts.summary()
    assert (found.num, found.num_single, found.mean_turns, found.mean_delay_s) == (0, 1, None, None)
    assert (found.open_request_share, found.closed_token_share) == (1.0, 0.0)
