"""Whole runs on steps of one second, compared with what must have been recorded."""

from dataclasses import replace

import pytest

from engine import Batch, NanoVllmPolicy, Policy, StepResult, VllmPolicy
from sim.interrupt import Interrupt
from tests.sim.small_world import Log, ScriptedBackend, ask, serve

BOTH = pytest.mark.parametrize("policy", [VllmPolicy(), NanoVllmPolicy()], ids=["vllm", "nano_vllm"])


def _check_stamps(log: Log, name: str, **stamps: object) -> None:
    row = log.requests[name]._asdict()
    assert {key: row[key] for key in stamps} == stamps


def test_simultaneous_arrivals_form_one_step() -> None:
    log = serve([ask("a"), ask("b", line=2)])

    assert log.steps == [(0.0, 1.0), (1.0, 1.0)]
    assert log.events == [
        (0, "a", "admitted", 0),
        (0, "b", "admitted", 0),
        (0, "a", "chunk", 4),
        (0, "b", "chunk", 4),
        (0, "a", "blocks", (0,)),
        (0, "b", "blocks", (1,)),
        (1, "a", "blocks", (2,)),
        (1, "b", "blocks", (3,)),
        (1, "a", "finished", "length"),
        (1, "b", "finished", "length"),
    ]
    assert log.emissions == {"a": [(0, 2)], "b": [(0, 2)]}
    for name in ("a", "b"):
        _check_stamps(
            log,
            name,
            arrival_s=0.0,
            submit_s=0.0,
            first_scheduled_s=0.0,
            first_token_s=1.0,
            last_token_s=2.0,
            finish_s=2.0,
            status="finished",
            output_tokens=2,
        )


def test_step_row_holds_times_shape_and_queues() -> None:
    log = serve([ask("a", prompt=6), ask("b", prompt=3, line=2)], tokens=6)

    assert [row._asdict() for row in log.step_rows[:2]] == [
        {
            "step": 0,
            "start_s": 0.0,
            "duration_s": 1.0,
            "host_s": 0.5,
            "device_s": 0.5,
            "graph_size": None,
            "num_prefill_tokens": 6,
            "num_prefill_seqs": 1,
            "prefill_qk": 36,
            "prefill_qq": 36,
            "max_query": 6,
            "max_context": 6,
            "num_decode_seqs": 0,
            "decode_context": 0,
            "num_sampled": 1,
            "num_new_blocks": 2,
            "num_admitted": 1,
            "num_released": 0,
            "num_waiting": 1,
            "num_running": 1,
            "num_used_blocks": 2,
        },
        {
            "step": 1,
            "start_s": 1.0,
            "duration_s": 1.0,
            "host_s": 0.5,
            "device_s": 0.5,
            "graph_size": None,
            "num_prefill_tokens": 3,
            "num_prefill_seqs": 1,
            "prefill_qk": 9,
            "prefill_qq": 9,
            "max_query": 3,
            "max_context": 7,
            "num_decode_seqs": 1,
            "decode_context": 7,
            "num_sampled": 2,
            "num_new_blocks": 1,
            "num_admitted": 1,
            "num_released": 0,
            "num_waiting": 0,
            "num_running": 1,
            "num_used_blocks": 3,
        },
    ]


def test_request_that_comes_during_a_step_waits_for_its_end() -> None:
    log = serve([ask("a", output=3), ask("b", 0.5, line=2)])

    assert log.events_of("admitted") == [(0, "a", "admitted", 0), (1, "b", "admitted", 0)]
    _check_stamps(log, "b", arrival_s=0.5, submit_s=1.0, first_scheduled_s=1.0, first_token_s=2.0, last_token_s=3.0)


def test_request_that_comes_at_the_end_of_a_step_is_in_the_next() -> None:
    log = serve([ask("a", output=3), ask("b", 1.0, line=2)])

    _check_stamps(log, "b", arrival_s=1.0, submit_s=1.0, first_scheduled_s=1.0)


def test_idle_gap_is_no_step() -> None:
    log = serve([ask("a", 2.5, output=1), ask("b", 10.25, output=1, line=2)])

    assert log.steps == [(2.5, 1.0), (10.25, 1.0)]
    assert [row.step for row in log.step_rows] == [0, 1]
    _check_stamps(log, "b", arrival_s=10.25, submit_s=10.25, first_token_s=11.25)


def test_request_of_one_output_token_ends_with_its_prefill() -> None:
    log = serve([ask("a", output=1)])

    assert log.events == [
        (0, "a", "admitted", 0),
        (0, "a", "chunk", 4),
        (0, "a", "blocks", (0,)),
        (0, "a", "finished", "length"),
    ]
    _check_stamps(log, "a", first_token_s=1.0, last_token_s=1.0, finish_s=1.0, output_tokens=1)
    assert log.emissions == {"a": [(0, 1)]}


@BOTH
def test_last_chunk_of_one_token_is_a_chunk_and_a_decode_is_none(policy: Policy) -> None:
    log = serve([ask("a", prompt=9, output=3)], tokens=4, policy=policy)

    assert log.events_of("chunk") == [(0, "a", "chunk", 4), (1, "a", "chunk", 4), (2, "a", "chunk", 1)]
    assert log.emissions == {"a": [(2, 3)]}
    _check_stamps(log, "a", first_scheduled_s=0.0, first_token_s=3.0, last_token_s=5.0)


def test_prompt_of_one_token_is_a_chunk() -> None:
    log = serve([ask("a", prompt=1)])

    assert log.events_of("chunk") == [(0, "a", "chunk", 1)]


def test_turn_comes_its_delay_after_the_turn_before_has_finished() -> None:
    log = serve([ask("a", session="s"), ask("b", session="s", delay_s=2.5, line=2), ask("c", 3.0, output=1, line=3)])

    assert log.of("session_id") == {"a": "s", "b": "s", "c": None}
    assert log.of("arrival_s") == {"a": 0.0, "b": 4.5, "c": 3.0}
    _check_stamps(log, "b", submit_s=4.5, first_scheduled_s=4.5)
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
    _check_stamps(log, "b", arrival_s=2.0, submit_s=2.0, first_scheduled_s=2.0)


@pytest.mark.parametrize("delay_s", [0.0, 1.5])
def test_turn_comes_after_a_refused_one(delay_s: float) -> None:
    log = serve([ask("a", 2.0, session="s", prompt=20), ask("b", session="s", delay_s=delay_s, line=2)], num_blocks=4)

    _check_stamps(log, "a", status="refused", submit_s=None, first_scheduled_s=None, finish_s=2.0, output_tokens=0)
    _check_stamps(log, "b", status="finished", arrival_s=2.0 + delay_s, first_scheduled_s=2.0 + delay_s)


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

    _check_stamps(log, "a", status="failed", reason="Its logits are not finite.", finish_s=2.0, output_tokens=1)
    _check_stamps(log, "b", status="finished", arrival_s=3.0)


def test_arrivals_at_one_instant_are_taken_by_line() -> None:
    """The turn of line 2 and the request of line 5 come at 2.0; the turn was released, the request was in the trace."""
    log = serve(
        [ask("a", session="s", line=1), ask("turn", session="s", delay_s=0.0, line=2), ask("late", 2.0, line=5)]
    )

    assert [name for _, name, kind, *_ in log.events if kind == "admitted"] == ["a", "turn", "late"]


def test_requests_that_waited_through_a_step_are_taken_by_arrival_before_line() -> None:
    log = serve([ask("a", output=1), ask("third", 0.75, line=2), ask("second", 0.25, line=9)])

    assert [name for _, name, kind, *_ in log.events if kind == "admitted"] == ["a", "second", "third"]


@BOTH
def test_refused_request_gets_a_reason_and_the_others_are_served(policy: Policy) -> None:
    log = serve([ask("a", prompt=16, output=1), ask("big", prompt=17, line=2)], num_blocks=4, policy=policy)

    assert log.of("status") == {"a": "finished", "big": "refused"}
    reason = log.requests["big"].reason
    assert reason is not None
    assert "17 tokens" in reason
    assert "the pool has 4 (num_blocks)" in reason
    assert not [event for event in log.events if event[1] == "big"]


def test_request_hits_what_another_computes_in_the_same_step() -> None:
    log = serve(
        [ask("a", prompt=9, output=1, hash_ids=(1, 2, 3)), ask("b", prompt=9, output=1, hash_ids=(1, 2, 4), line=2)]
    )

    assert log.events == [
        (0, "a", "admitted", 0),
        (0, "b", "admitted", 8),
        (0, "a", "chunk", 9),
        (0, "b", "chunk", 1),
        (0, "a", "blocks", (0, 1, 2)),
        (0, "b", "blocks", (3,)),
        (0, "a", "finished", "length"),
        (0, "b", "finished", "length"),
    ]
    assert log.of("hit_tokens") == {"a": 0, "b": 8}


def test_preempted_request_is_resumed_on_what_is_left_of_its_blocks() -> None:
    """b loses its blocks in step 2 so that a can grow, and finds them again when a has ended."""
    log = serve([ask("a", prompt=7, output=5), ask("b", prompt=7, output=5, line=2)], num_blocks=5)

    assert log.events == [
        (0, "a", "admitted", 0),
        (0, "b", "admitted", 0),
        (0, "a", "chunk", 7),
        (0, "b", "chunk", 7),
        (0, "a", "blocks", (0, 1)),
        (0, "b", "blocks", (2, 3)),
        (2, "b", "preempted"),
        (2, "a", "blocks", (4,)),
        (4, "a", "finished", "length"),
        (5, "b", "resumed", 8),
        (5, "b", "chunk", 1),
        (5, "b", "blocks", (4,)),
        (7, "b", "finished", "length"),
    ]
    assert log.emissions == {"a": [(0, 5)], "b": [(0, 2), (5, 3)]}
    _check_stamps(
        log,
        "b",
        first_scheduled_s=0.0,
        first_token_s=1.0,
        last_token_s=8.0,
        num_preemptions=1,
        preempted_s=3.0,
        reprefill_tokens=0,
    )


def test_tokens_computed_again_count_from_what_had_been_computed() -> None:
    """b had computed 7 + 1 tokens when it lost them; the ninth token that it knew was not computed yet."""
    log = serve(
        [ask("a", prompt=7, output=5), ask("b", prompt=7, output=5, line=2)],
        num_blocks=5,
        policy=VllmPolicy(prefix_caching=False),
    )

    assert log.events_of("resumed", "preempted") == [(2, "b", "preempted"), (5, "b", "resumed", 0)]
    assert log.events_of("chunk")[-1] == (5, "b", "chunk", 9)
    assert log.of("reprefill_tokens") == {"a": 0, "b": 8}


def test_step_without_rows_takes_no_time_and_is_recorded() -> None:
    """a has the lower urgency and preempts itself; as in 0.25, that ends the step although b could go on."""
    log = serve(
        [ask("a", prompt=7, output=5, priority=5), ask("b", 0.5, prompt=5, output=6, priority=1, line=2)],
        num_blocks=4,
        policy=VllmPolicy(scheduling_policy="priority", vllm_version="0.25"),
    )

    assert log.steps[1:4] == [(1.0, 1.0), (2.0, 0.0), (2.0, 1.0)]
    empty = log.step_rows[2]
    assert (empty.num_decode_seqs, empty.num_sampled, empty.device_s, empty.graph_size) == (0, 0, 0.0, None)
    assert (empty.num_waiting, empty.num_running, empty.num_used_blocks) == (1, 1, 2)
    assert log.events_of("preempted", "resumed") == [(2, "a", "preempted"), (8, "a", "resumed", 4)]
    assert log.emissions == {"a": [(0, 2), (8, 3)], "b": [(1, 1), (3, 5)]}
    _check_stamps(log, "a", num_preemptions=1, preempted_s=5.0, reprefill_tokens=4)


def test_request_that_outgrows_the_pool_fails_in_a_step_without_rows_and_makes_room() -> None:
    log = serve([ask("a", prompt=3, output=5), ask("b", 0.5, prompt=3, output=1, line=2)], num_blocks=1)

    reason = "It has grown to 5 tokens, which need 2 blocks of 4; the pool has 1."
    assert log.steps == [(0.0, 1.0), (1.0, 1.0), (2.0, 0.0), (2.0, 1.0)]
    assert log.events_of("failed") == [(2, "a", "failed", reason)]
    _check_stamps(log, "a", status="failed", reason=reason, finish_s=2.0, output_tokens=2)
    _check_stamps(log, "b", status="finished", first_scheduled_s=2.0)
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
    _check_stamps(log, "a", status="failed", output_tokens=1, last_token_s=1.0, finish_s=2.0)
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
    _check_stamps(log, "a", first_token_s=1.0, last_token_s=2.0, finish_s=None, reason=None)
    _check_stamps(log, "never", submit_s=None, first_scheduled_s=None, finish_s=None)
