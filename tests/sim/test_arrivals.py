import pytest

from sim.arrivals import Arrivals
from tests.sim.small_world import ask


def _names(arrivals: Arrivals, now_s: float) -> list[str]:
    return [arrival.request.request_id for arrival in arrivals.due(now_s)]


def test_due_takes_what_has_come_and_leaves_the_rest() -> None:
    arrivals = Arrivals([ask("a", 1.0), ask("b", 1.0, line=2), ask("c", 1.5, line=3)])

    assert arrivals.next_s == 1.0
    assert _names(arrivals, 0.5) == []
    assert _names(arrivals, 1.0) == ["a", "b"]
    assert arrivals.next_s == 1.5
    assert _names(arrivals, 9.0) == ["c"]
    assert arrivals.next_s is None


def test_line_orders_what_comes_at_one_instant() -> None:
    arrivals = Arrivals([ask("first", 0.0, line=3), ask("second", 0.0, line=7), ask("third", 1.0, line=1)])

    assert _names(arrivals, 2.0) == ["first", "second", "third"]


def test_turn_is_unknown_until_the_turn_before_ends() -> None:
    arrivals = Arrivals([ask("a", session="s"), ask("b", session="s", delay_s=2.0, line=2)])
    assert _names(arrivals, 100.0) == ["a"]
    assert arrivals.next_s is None

    arrivals.release("a", 3.0)

    assert arrivals.next_s == 5.0
    (turn,) = arrivals.due(5.0)
    assert (turn.arrival_s, turn.position, turn.request.request_id) == (5.0, 1, "b")


def test_turns_of_two_sessions_do_not_mix() -> None:
    arrivals = Arrivals(
        [
            ask("a", session="s"),
            ask("a2", session="s", delay_s=1.0, line=3),
            ask("b", session="t", line=2),
            ask("b2", session="t", delay_s=5.0, line=4),
        ]
    )
    assert _names(arrivals, 0.0) == ["a", "b"]
    arrivals.release("b", 1.0)
    arrivals.release("a", 1.0)

    assert _names(arrivals, 10.0) == ["a2", "b2"]


def test_turn_released_while_others_are_taken_is_taken_with_them_by_its_line() -> None:
    arrivals = Arrivals([ask("a", session="s"), ask("b", session="s", delay_s=0.0, line=2), ask("c", line=3)])
    taken = []
    for arrival in arrivals.due(0.0):
        taken.append(arrival.request.request_id)
        arrivals.release(arrival.request.request_id, 0.0)

    assert taken == ["a", "b", "c"]


def test_releasing_what_has_no_turn_behind_it_changes_nothing() -> None:
    arrivals = Arrivals([ask("a", session="s"), ask("b", line=2)])
    for name in ("a", "b", "unknown"):
        arrivals.release(name, 1.0)

    assert _names(arrivals, 9.0) == ["a", "b"]


def test_a_delay_is_rounded_to_the_time_quantum() -> None:
    arrivals = Arrivals([ask("a", session="s"), ask("b", session="s", delay_s=0.1, line=2)])
    list(arrivals.due(0.0))
    arrivals.release("a", 1.0)

    assert arrivals.next_s == pytest.approx(1.1)
    assert ((arrivals.next_s or 0.0) * 2**30).is_integer()


def test_left_is_what_has_not_come_with_its_place_in_the_trace() -> None:
    arrivals = Arrivals([ask("a", session="s"), ask("b", session="s", delay_s=2.0, line=2), ask("c", 9.0, line=3)])
    list(arrivals.due(0.0))

    assert sorted((position, request.request_id) for position, request in arrivals.left()) == [(1, "b"), (2, "c")]
