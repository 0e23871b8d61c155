"""A request larger than the pool, the model or the budget: refused, or ended alone; never a crash or a standstill."""

import pytest

from engine import HashedPrompt, NanoVllmPolicy, Policy, RequestError, Scheduler, SettingError, VllmPolicy
from tests.engine.driver import Driver, limits, request

BOTH = pytest.mark.parametrize("policy", [VllmPolicy(), NanoVllmPolicy()], ids=["vllm", "nano_vllm"])


@BOTH
def test_lone_sequence_that_outgrows_the_pool_fails_and_the_others_live_on(policy: Policy) -> None:  # nano-vllm#274
    driver = Driver(policy, limits(), num_blocks=2)
    driver.add(request("big", 7, max_tokens=10), request("small", 3, max_tokens=2))

    steps = driver.finish()

    reason = "It has grown to 9 tokens, which need 3 blocks of 4; the pool has 2."
    assert driver.ended["big"] == ("big", "failed", reason, (1007, 1008))
    assert driver.ended["small"] == ("small", "finished", "length", (1003, 1004))
    assert [step.rows for step in steps] == [[("big", 7)], [("big", 1)], [], [("small", 3)], [("small", 1)]]
    assert [batch.released for batch in driver.batches] == [(), (), (), ("big",), ()]
    assert driver.num_free == 2


@BOTH
def test_step_without_rows_is_legal_and_carries_the_end(policy: Policy) -> None:  # nano-vllm#274
    driver = Driver(policy, limits(), num_blocks=2)
    driver.add(request("big", 7, max_tokens=10))
    driver.steps(2)

    batch = driver.scheduler.schedule()

    assert len(batch) == 0
    assert [each.request_id for each in batch.ended] == ["big"]
    assert not any(batch.shape)
    assert batch.released == ()
    assert not driver.scheduler.has_unfinished
    assert len(driver.scheduler.schedule()) == 0


@BOTH
def test_prompt_that_fills_the_pool_yields_one_token_and_does_not_loop(policy: Policy) -> None:  # MinivLLM#94
    driver = Driver(policy, limits(), num_blocks=2)
    driver.add(request("one", 8, max_tokens=1), request("more", 8, max_tokens=2))

    steps = driver.finish(max_steps=4)

    assert [step.rows for step in steps] == [[("one", 8)], [("more", 8)], []]
    assert driver.ended["one"] == ("one", "finished", "length", (1008,))
    assert driver.ended["more"][1:] == (
        "failed",
        "It has grown to 9 tokens, which need 3 blocks of 4; the pool has 2.",
        (1008,),
    )


@pytest.mark.parametrize("policy", [VllmPolicy(), VllmPolicy(scheduling_policy="priority"), NanoVllmPolicy()])
def test_preempted_sequence_that_has_outgrown_the_pool_fails_once_it_is_alone(policy: Policy) -> None:
    prefix = list(range(8))
    driver = Driver(policy, limits(max_num_batched_tokens=16), num_blocks=4)
    driver.add(request("first", [*prefix, 90], max_tokens=8))
    driver.step()  # registers the shared blocks under either policy
    driver.add(request("hitter", [*prefix, 91, 92, 93], max_tokens=30, priority=1))

    driver.finish(max_steps=60)

    assert driver.ended["first"].status == "finished"
    assert driver.ended["hitter"].status == "failed"
    assert driver.num_free == 4


@BOTH
def test_prompt_larger_than_the_pool_is_refused_and_those_behind_are_served(policy: Policy) -> None:  # vllm#39734
    driver = Driver(policy, limits(max_model_len=64), num_blocks=4)

    with pytest.raises(RequestError) as error:
        driver.add(request("huge", 20))
    driver.add(request("short", 3))

    assert str(error.value) == (
        "The prompt of 'huge' has 20 tokens, which need 5 blocks of 4; the pool has 4 (num_blocks)."
    )
    assert driver.step().rows == [("short", 3)]
    assert driver.scheduler.has_unfinished is False


def test_budget_below_the_model_length_is_refused_at_start_when_prompts_may_not_be_cut() -> None:
    # tenstorrent/vllm#436: the setting was checked before a later override
    with pytest.raises(SettingError) as error:
        Scheduler(limits(max_num_batched_tokens=16, max_model_len=32), 100, VllmPolicy(chunked_prefill=False))

    assert str(error.value) == (
        "Chunked prefill is off and max_num_batched_tokens is 16, below max_model_len 32: a long prompt could never "
        "run. Raise max_num_batched_tokens to 32, lower max_model_len to 16, or allow chunks."
    )


def test_prompt_above_the_budget_is_refused_when_prompts_may_not_be_cut() -> None:  # tenstorrent/vllm#436
    scheduler = Scheduler(limits(max_num_batched_tokens=16, max_model_len=16), 100, VllmPolicy(chunked_prefill=False))

    with pytest.raises(RequestError, match="has 20 tokens; it must be shorter than max_model_len, 16"):
        scheduler.add(request("a", 20))
    assert not scheduler.has_unfinished


def test_uncut_prompts_wait_for_a_step_that_has_the_budget() -> None:
    driver = Driver(VllmPolicy(chunked_prefill=False), limits(max_num_batched_tokens=16, max_model_len=16), 100)
    driver.add(request("a", 10, max_tokens=2), request("b", 7), request("c", 3))

    steps = driver.finish()

    # b needs 7 of the 6 left and stops the walk: c may not pass it.
    assert [step.rows for step in steps] == [[("a", 10)], [("a", 1), ("b", 7), ("c", 3)]]


@BOTH
def test_outputs_beyond_the_model_length_end_by_length(policy: Policy) -> None:  # nano-vllm#270
    driver = Driver(policy, limits(max_model_len=10), num_blocks=8)
    driver.add(request("capped", 7, max_tokens=10), request("exact", 7, max_tokens=3), request("last", 9, max_tokens=5))

    driver.finish()

    assert driver.ended["capped"] == ("capped", "finished", "length", (1007, 1008, 1009))
    assert driver.ended["exact"] == ("exact", "finished", "length", (1007, 1008, 1009))
    assert driver.ended["last"] == ("last", "finished", "length", (1009,))


@BOTH
def test_output_that_just_fits_the_pool_is_served(policy: Policy) -> None:  # sglang#28530
    driver = Driver(policy, limits(block_size=2, max_num_batched_tokens=4096, max_model_len=8192), num_blocks=2048)
    driver.add(request("a", HashedPrompt(10, (), 512, 0), max_tokens=4084))

    num_steps = sum(1 for _ in driver.run())

    assert num_steps == 4084
    assert driver.ended["a"].reason == "length"
    assert len(driver.ended["a"].output_ids) == 4084
    assert driver.num_free == 2048


def test_second_long_prompt_waits_until_all_of_it_fits() -> None:  # vllm#25538
    driver = Driver(VllmPolicy(), limits(max_num_batched_tokens=5), num_blocks=6)
    driver.add(request("a", 20, max_tokens=3), request("b", 20, max_tokens=3))

    steps = driver.finish()

    assert [step.rows for step in steps] == [
        *[[("a", 5)]] * 4,
        *[[("a", 1)]] * 2,
        *[[("b", 5)]] * 4,
        *[[("b", 1)]] * 2,
    ]
    assert [step.preempted for step in steps] == [[]] * 12


def test_without_the_reservation_a_prompt_is_admitted_by_its_first_chunk_and_preempted() -> None:  # vllm#25538
    driver = Driver(VllmPolicy(reserve_full_prompt=False), limits(max_num_batched_tokens=9), num_blocks=7)
    driver.add(request("a", 20, max_tokens=2), request("b", 20, max_tokens=2))

    steps = driver.finish()

    assert [(step.rows, step.preempted) for step in steps[:4]] == [
        ([("a", 9)], []),
        ([("a", 9)], []),
        ([("a", 2), ("b", 7)], []),
        ([("a", 1)], ["b"]),
    ]
    assert {name: end.status for name, end in driver.ended.items()} == {"a": "finished", "b": "finished"}
