from hypothesis import given

from tests.traces.requests import later, single
from tests.traces.strategies import traces
from traces import Trace, TraceRequest
from traces.time_order import TimeOrder


def passed_on(requests: tuple[TraceRequest, ...]) -> list[tuple[str, float]]:
    passed: list[tuple[str, float]] = []
    order = TimeOrder(lambda request, time_s: passed.append((request.request_id, time_s)))
    for request in requests:
        order.add(request)
    order.finish()
    return passed


def test_later_turns_come_between_others() -> None:
    requests = (
        single(0, 0.0, session_id="a"),
        later(1, "a", 3.0),
        later(2, "a", 4.0),
        single(3, 2.0),
        single(4, 3.0, session_id="b"),
        later(5, "b", 0.0),
        single(6, 5.0),
    )
    assert passed_on(requests) == [
        ("r0", 0.0),
        ("r3", 2.0),
        ("r1", 3.0),
        ("r4", 3.0),
        ("r5", 3.0),
        ("r6", 5.0),
        ("r2", 7.0),
    ]


@given(traces())
def test_every_request_comes_once_and_in_order(trace: Trace) -> None:
    passed = passed_on(trace.requests)
    assert sorted(each for each, _ in passed) == sorted(request.request_id for request in trace.requests)
    times = [time_s for _, time_s in passed]
    assert times == sorted(times)
