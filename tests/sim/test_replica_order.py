"""Who comes when: sessions, and what comes at one instant."""

import pytest

from tests.sim.small_world import ScriptedBackend, ask, check_stamps, serve


def test_turn_comes_its_delay_after_the_turn_before_has_finished() -> None:
    log = serve([ask("a", session="s"), ask("b", session="s", delay_s=2.5, line=2), ask("c", 3.0, output=1, line=3)])

    assert log.of("session_id") == {"a": "s", "b": "s", "c": None}
    assert log.of("arrival_s") == {"a": 0.0, "b": 4.5, "c": 3.0}
    check_stamps(log, "b", submit_s=4.5, first_scheduled_s=4.5)
    assert log.steps == [(0.0, 1.0), (1.0, 1.0), (3.0, 1.0), (4.5, 1.0), (5.5, 1.0)]


def test_turn_released_by_a_step_is_in_the_next() -> None:
    log = serve(
        [
            ask("long", output=5),
            ask("a", session="s", output=2, line=2),
            ask("b", session="s", delay_s=0.0, output=1, line=3),
        ]
    )

    assert log.events_of("admitted")[-1] == (2, "b", "admitted", 0)
    check_stamps(log, "b", arrival_s=2.0, submit_s=2.0, first_scheduled_s=2.0)


@pytest.mark.parametrize("delay_s", [0.0, 1.5])
def test_turn_comes_after_a_refused_one(delay_s: float) -> None:
    log = serve([ask("a", 2.0, session="s", prompt=20), ask("b", session="s", delay_s=delay_s, line=2)], num_blocks=4)

    check_stamps(log, "a", status="refused", submit_s=None, first_scheduled_s=None, finish_s=2.0, output_tokens=0)
    check_stamps(log, "b", status="finished", arrival_s=2.0 + delay_s, first_scheduled_s=2.0 + delay_s)


def test_turn_behind_a_refused_one_is_in_the_same_step_and_in_the_order_of_lines() -> None:
    log = serve(
        [
            ask("a", session="s", prompt=20, line=1),
            ask("b", session="s", delay_s=0.0, line=2),
            ask("c", line=3),
        ],
        num_blocks=4,
    )

    assert log.events_of("admitted") == [(0, "b", "admitted", 0), (0, "c", "admitted", 0)]


def test_turn_comes_after_a_failed_one() -> None:
    log = serve(
        [ask("a", session="s", output=9), ask("b", session="s", delay_s=1.0, line=2)],
        backend=ScriptedBackend(failed={1: {"a": "Its logits are not finite."}}),
    )

    check_stamps(log, "a", status="failed", reason="Its logits are not finite.", finish_s=2.0, output_tokens=1)
    check_stamps(log, "b", status="finished", arrival_s=3.0)


def test_arrivals_at_one_instant_are_taken_by_line() -> None:
    """The turn of line 2 and the request of line 5 come at 2.0; the turn was released, the request was in the trace."""
    log = serve(
        [ask("a", session="s", line=1), ask("turn", session="s", delay_s=0.0, line=2), ask("late", 2.0, line=5)]
    )

    assert [name for _, name, kind, *_ in log.events if kind == "admitted"] == ["a", "turn", "late"]


def test_requests_that_waited_through_a_step_are_taken_by_arrival_before_line() -> None:
    log = serve([ask("a", output=1), ask("third", 0.75, line=2), ask("second", 0.25, line=9)])

    assert [name for _, name, kind, *_ in log.events if kind == "admitted"] == ["a", "second", "third"]
