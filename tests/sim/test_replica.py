"""Whole runs on steps of one second, compared with what must have been recorded."""

import pytest

from engine import NanoVllmPolicy, Policy, VllmPolicy
from tests.sim.small_world import ask, check_stamps, serve

BOTH = pytest.mark.parametrize("policy", [VllmPolicy(), NanoVllmPolicy()], ids=["vllm", "nano_vllm"])


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
        check_stamps(
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
            "prefill_context": 6,
            "max_query": 6,
            "max_context": 6,
            "num_decode_seqs": 0,
            "decode_context": 0,
            "decode_context_sq": 0,
            "max_decode_context": 0,
            "shared_context": 0,
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
            "prefill_context": 3,
            "max_query": 3,
            "max_context": 7,
            "num_decode_seqs": 1,
            "decode_context": 7,
            "decode_context_sq": 49,
            "max_decode_context": 7,
            "shared_context": 0,
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
    check_stamps(log, "b", arrival_s=0.5, submit_s=1.0, first_scheduled_s=1.0, first_token_s=2.0, last_token_s=3.0)


def test_request_that_comes_at_the_end_of_a_step_is_in_the_next() -> None:
    log = serve([ask("a", output=3), ask("b", 1.0, line=2)])

    check_stamps(log, "b", arrival_s=1.0, submit_s=1.0, first_scheduled_s=1.0)


def test_idle_gap_is_no_step() -> None:
    log = serve([ask("a", 2.5, output=1), ask("b", 10.25, output=1, line=2)])

    assert log.steps == [(2.5, 1.0), (10.25, 1.0)]
    assert [row.step for row in log.step_rows] == [0, 1]
    check_stamps(log, "b", arrival_s=10.25, submit_s=10.25, first_token_s=11.25)


def test_request_of_one_output_token_ends_with_its_prefill() -> None:
    log = serve([ask("a", output=1)])

    assert log.events == [
        (0, "a", "admitted", 0),
        (0, "a", "chunk", 4),
        (0, "a", "blocks", (0,)),
        (0, "a", "finished", "length"),
    ]
    check_stamps(log, "a", first_token_s=1.0, last_token_s=1.0, finish_s=1.0, output_tokens=1)
    assert log.emissions == {"a": [(0, 1)]}


@BOTH
def test_last_chunk_of_one_token_is_a_chunk_and_a_decode_is_none(policy: Policy) -> None:
    log = serve([ask("a", prompt=9, output=3)], tokens=4, policy=policy)

    assert log.events_of("chunk") == [(0, "a", "chunk", 4), (1, "a", "chunk", 4), (2, "a", "chunk", 1)]
    assert log.emissions == {"a": [(2, 3)]}
    check_stamps(log, "a", first_scheduled_s=0.0, first_token_s=3.0, last_token_s=5.0)


def test_prompt_of_one_token_is_a_chunk() -> None:
    log = serve([ask("a", prompt=1)])

    assert log.events_of("chunk") == [(0, "a", "chunk", 1)]


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
    check_stamps(
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
    check_stamps(log, "a", num_preemptions=1, preempted_s=5.0, reprefill_tokens=4)
