"""Runs in which something goes wrong: what is lost, and that all else goes on."""

import os
import signal
from collections.abc import Sequence
from dataclasses import replace

import pytest

from analysis.rows import EventRow
from engine import Batch, NanoVllmPolicy, Policy, StepResult, VllmPolicy
from sim.decision_digest import DecisionDigest
from sim.interrupt import Interrupt
from tests.sim.small_world import ScriptedBackend, ask, check_stamps, serve

BOTH = pytest.mark.parametrize("policy", [VllmPolicy(), NanoVllmPolicy()], ids=["vllm", "nano_vllm"])


@BOTH
def test_refused_request_gets_a_reason_and_the_others_are_served(policy: Policy) -> None:
    log = serve([ask("a", prompt=16, output=1), ask("big", prompt=17, line=2)], num_blocks=4, policy=policy)

    assert log.of("status") == {"a": "finished", "big": "refused"}
    reason = log.requests["big"].reason
    assert reason is not None
    assert "17 tokens" in reason
    assert "the pool has 4 (num_blocks)" in reason
    assert not [event for event in log.events if event[1] == "big"]


def test_request_that_outgrows_the_pool_fails_in_a_step_without_rows_and_makes_room() -> None:
    log = serve([ask("a", prompt=3, output=5), ask("b", 0.5, prompt=3, output=1, line=2)], num_blocks=1)

    reason = "It has grown to 5 tokens, which need 2 blocks of 4; the pool has 1."
    assert log.steps == [(0.0, 1.0), (1.0, 1.0), (2.0, 0.0), (2.0, 1.0)]
    assert log.events_of("failed") == [(2, "a", "failed", reason)]
    check_stamps(log, "a", status="failed", reason=reason, finish_s=2.0, output_tokens=2)
    check_stamps(log, "b", status="finished", first_scheduled_s=2.0)
    assert log.emissions == {"a": [(0, 2)], "b": [(3, 1)]}


def test_failed_row_ends_its_request_without_a_token_in_that_step() -> None:
    log = serve(
        [ask("a", output=3), ask("b", output=3, line=2)],
        backend=ScriptedBackend(failed={1: {"a": "Its logits are not finite."}}),
    )

    assert log.events_of("failed", "finished") == [
        (1, "a", "failed", "Its logits are not finite."),
        (2, "b", "finished", "length"),
    ]
    check_stamps(log, "a", status="failed", output_tokens=1, last_token_s=1.0, finish_s=2.0)
    assert log.emissions == {"a": [(0, 1)], "b": [(0, 3)]}


def test_engine_lives_on_after_a_step_that_the_backend_could_not_execute() -> None:
    log = serve(
        [ask("a", output=3), ask("b", 0.5, output=3, line=2), ask("c", 0.75, output=1, line=3), ask("d", 1.5, line=4)],
        seqs=2,
        backend=ScriptedBackend(errors={1: "The device is gone."}),
    )

    assert log.steps == [(0.0, 1.0), (1.0, 0.0), (1.0, 1.0), (2.0, 1.0), (3.0, 1.0)]
    assert log.events_of("failed") == [
        (1, "a", "failed", "The device is gone."),
        (1, "b", "failed", "The device is gone."),
    ]
    assert log.of("status") == {"a": "failed", "b": "failed", "c": "finished", "d": "finished"}
    assert log.emissions == {"a": [(0, 1)], "b": [], "c": [(2, 1)], "d": [(3, 2)]}
    assert (log.step_rows[1].device_s, log.step_rows[1].num_running) == (0.0, 0)


class _ForgetfulBackend(ScriptedBackend):
    """Returns a token too few in step 1."""

    def execute(self, batch: Batch) -> StepResult:
        result = super().execute(batch)
        return replace(result, token_ids=result.token_ids[1:]) if batch.step == 1 else result


def test_engine_lives_on_after_a_result_that_does_not_belong_to_the_batch() -> None:
    log = serve([ask("a", output=3), ask("b", 1.5, output=1, line=2)], backend=_ForgetfulBackend())

    reason = "The backend returned 0 tokens for the 1 sampling rows of step 1; it must return one for each."
    assert log.events_of("failed") == [(1, "a", "failed", reason)]
    assert log.steps == [(0.0, 1.0), (1.0, 1.0), (2.0, 1.0)]
    assert log.emissions == {"a": [(0, 1)], "b": [(2, 1)]}


class _InterruptedBackend(ScriptedBackend):
    """The user asks for the end while step 1 runs."""

    def __init__(self, interrupt: Interrupt) -> None:
        super().__init__()
        self._interrupt = interrupt

    def execute(self, batch: Batch) -> StepResult:
        if batch.step == 1:
            self._interrupt.is_requested = True
        return super().execute(batch)


def test_interrupted_run_ends_after_a_whole_step_and_has_a_row_for_every_request() -> None:
    interrupt = Interrupt()
    log = serve(
        [
            ask("a", output=9),
            ask("b", output=2, line=2),
            ask("never", 50.0, session="s", line=3),
            ask("turn", session="s", delay_s=0.0, line=4),
        ],
        interrupt=interrupt,
        backend=_InterruptedBackend(interrupt),
    )

    assert log.steps == [(0.0, 1.0), (1.0, 1.0)]
    assert log.of("status") == {"a": "unfinished", "b": "finished", "never": "unfinished", "turn": "unfinished"}
    assert log.of("index") == {"a": 0, "b": 1, "never": 2, "turn": 3}
    assert log.of("arrival_s") == {"a": 0.0, "b": 0.0, "never": None, "turn": None}
    assert log.of("output_tokens") == {"a": 2, "b": 2, "never": 0, "turn": 0}
    assert log.emissions == {"a": [(0, 2)], "b": [(0, 2)], "never": [], "turn": []}
    check_stamps(log, "a", first_token_s=1.0, last_token_s=2.0, finish_s=None, reason=None)
    check_stamps(log, "never", submit_s=None, first_scheduled_s=None, finish_s=None)


def test_user_who_interrupts_twice_while_a_step_is_written_down_gets_it_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    interrupt = Interrupt()
    add = DecisionDigest.add

    def interrupted(self: DecisionDigest, batch: Batch, events: Sequence[EventRow]) -> None:
        if batch.step == 1:
            os.kill(os.getpid(), signal.SIGINT)
            os.kill(os.getpid(), signal.SIGINT)
        add(self, batch, events)

    monkeypatch.setattr(DecisionDigest, "add", interrupted)
    with interrupt.listening():
        log = serve([ask("a", output=2), ask("b", output=5, line=2)], interrupt=interrupt)

    assert [row.step for row in log.step_rows] == [0, 1]
    assert log.of("status") == {"a": "finished", "b": "unfinished"}
    assert log.emissions == {"a": [(0, 2)], "b": [(0, 2)]}
