"""Which tokens of a prompt are found in the cache, and which are computed."""

import pytest

from engine import NanoVllmPolicy, Policy, VllmPolicy
from tests.engine.driver import Driver, limits, request

BOTH = pytest.mark.parametrize("policy", [VllmPolicy(), NanoVllmPolicy()], ids=["vllm", "nano_vllm"])


def _served(policy: Policy, *prompts: int | list[int], num_blocks: int = 16) -> Driver:
    """A driver that has served the prompts one after another."""
    driver = Driver(policy, limits(), num_blocks)
    for k, prompt in enumerate(prompts):
        driver.add(request(f"served-{k}", prompt))
        driver.finish()
    return driver


@BOTH
def test_full_hit_recomputes_the_last_block(policy: Policy) -> None:  # nano-vllm#114
    driver = _served(policy, list(range(8)))
    driver.add(request("again", range(8), max_tokens=2))

    step = driver.step()

    assert step.admitted == [("again", 4)]
    assert step.rows == [("again", 4)]
    assert driver.batches[-1].samples == (True,)
    assert driver.batches[-1].first_positions == (4,)


@BOTH
def test_scheduled_tokens_are_the_prompt_less_the_hits(policy: Policy) -> None:  # nano-vllm#210
    driver = _served(policy, list(range(7)))
    driver.add(request("again", range(7)))

    step = driver.step()

    assert step.admitted == [("again", 4)]
    assert step.rows == [("again", 3)]


@BOTH
@pytest.mark.parametrize(("num_tokens", "num_hit"), [(1, 0), (4, 0), (5, 4), (8, 4), (9, 8), (12, 8), (13, 12)])
def test_hits_leave_at_least_one_token_to_compute(policy: Policy, num_tokens: int, num_hit: int) -> None:
    driver = _served(policy, list(range(16)))
    driver.add(request("again", range(num_tokens)))

    assert driver.step().admitted == [("again", num_hit)]


@BOTH
def test_nothing_is_hit_behind_the_first_difference(policy: Policy) -> None:
    driver = _served(policy, list(range(16)))
    driver.add(request("other", [*range(5), 99, *range(6, 16)]))

    assert driver.step().admitted == [("other", 4)]


def test_vllm_hits_blocks_that_the_same_step_computes() -> None:  # nano-vllm#208
    driver = Driver(VllmPolicy(), limits(), num_blocks=16)
    driver.add(request("a", range(9)), request("b", range(9)))

    step = driver.step()

    assert step.admitted == [("a", 0), ("b", 8)]
    assert step.rows == [("a", 9), ("b", 1)]
    assert driver.batches[0].admitted[1].block_table == (0, 1, 3)


def test_nano_vllm_shares_no_block_within_a_step() -> None:  # nano-vllm#208
    driver = Driver(NanoVllmPolicy(), limits(), num_blocks=16)
    driver.add(request("a", range(9)), request("b", range(9)))

    step = driver.step()

    assert step.admitted == [("a", 0), ("b", 0)]
    assert step.rows == [("a", 9), ("b", 9)]
    assert driver.batches[0].admitted[1].block_table == (3, 4, 5)


def test_vllm_still_finds_the_older_copy_when_the_newer_one_is_reused() -> None:  # nano-vllm#219
    driver = Driver(VllmPolicy(), limits(), num_blocks=4)
    driver.add(request("first", range(8), max_tokens=4))
    driver.step()  # blocks 0, 1
    driver.add(request("copy", range(8)))
    assert driver.step().admitted == [("copy", 4)]  # the second block again, in block 3
    assert driver.table("copy") == [0, 3]
    driver.add(request("other", 3, max_tokens=4))
    driver.step()
    assert driver.table("other") == [3]

    driver.add(request("third", range(9)))
    assert driver.step().admitted == []  # no room while both run
    assert [step.admitted for step in driver.run() if step.admitted] == [[("third", 8)]]


def test_nano_vllm_loses_the_older_copy_when_the_newer_one_is_reused() -> None:  # nano-vllm#219; as published
    driver = Driver(NanoVllmPolicy(), limits(), num_blocks=6)
    driver.add(request("first", range(8), max_tokens=9), request("copy", range(8)))
    driver.step()
    assert [driver.table(name) for name in ("first", "copy")] == [[0, 1], [2, 3]]
    driver.add(request("other", 16))
    driver.step()
    assert driver.table("other") == [4, 5, 3, 2]

    driver.add(request("third", range(9)))

    assert driver.step().admitted == [("third", 0)]


def test_newer_copy_is_found_when_the_older_one_has_gone() -> None:  # kvcached#401
    driver = Driver(VllmPolicy(), limits(), num_blocks=5)
    driver.add(request("first", range(8)), request("copy", range(8), max_tokens=9))
    driver.step()
    assert [driver.table(name) for name in ("first", "copy")] == [[0, 1], [0, 2]]
    driver.add(request("other", 8))
    driver.step()  # "first" has ended: its block 1 is reused
    assert driver.table("other") == [4, 1]

    driver.add(request("third", range(9)))

    assert driver.step().admitted == [("third", 8)]
    assert driver.table("third")[:2] == [0, 2]


@BOTH
def test_prompt_of_a_finished_request_is_hit(policy: Policy) -> None:  # nano-vllm PR 153
    driver = _served(policy, list(range(12)))
    assert driver.num_free == 16
    driver.add(request("again", range(12)))

    assert driver.step().admitted == [("again", 8)]


@BOTH
def test_outputs_are_hit_by_the_next_turn(policy: Policy) -> None:
    driver = Driver(policy, limits(), num_blocks=16)
    driver.add(request("turn-1", range(6), max_tokens=7))  # outputs 1006 .. 1012; the last one is never computed
    driver.finish()
    answer = driver.ended["turn-1"].output_ids
    assert answer == (1006, 1007, 1008, 1009, 1010, 1011, 1012)

    driver.add(request("turn-2", [*range(6), *answer, 7, 8, 9]), request("other", [*range(6), 1006, 5, 5, 5, 5]))

    assert driver.step().admitted == [("turn-2", 12), ("other", 4)]


@BOTH
def test_reused_block_no_longer_answers_for_what_it_held(policy: Policy) -> None:  # kvcached#362
    driver = _served(policy, list(range(8)), num_blocks=3)
    driver.add(request("other", 12))
    driver.step()  # takes all three
    driver.add(request("again", range(8)))

    assert driver.step().admitted == [("again", 0)]


def test_end_of_a_freed_sequence_is_reused_before_its_start() -> None:  # LMCache#443
    driver = _served(VllmPolicy(), list(range(12)), num_blocks=5)
    driver.add(request("other", 12))
    driver.step()
    # Blocks 0 1 2 held the prompt; 3 and 4 were never used and go first, then the last of the three.
    assert driver.table("other") == [3, 4, 2]

    driver.add(request("again", range(12)))

    assert driver.step().admitted == [("again", 8)]


def test_blocks_without_a_key_are_reused_before_any_that_can_be_hit() -> None:
    driver = _served(VllmPolicy(), list(range(7)), num_blocks=4)  # block 0 has a key, block 1 has not
    driver.add(request("other", 3))
    driver.step()

    assert driver.table("other") == [1]


def test_nano_vllm_reuses_blocks_first_in_first_out() -> None:
    driver = _served(NanoVllmPolicy(), list(range(7)), num_blocks=4)
    driver.add(request("other", 16))
    driver.step()

    assert driver.table("other") == [2, 3, 1, 0]


def test_prefix_caching_off_hits_nothing_and_reuses_the_last_freed_first() -> None:
    driver = _served(VllmPolicy(prefix_caching=False), list(range(12)), num_blocks=6)
    driver.add(request("again", range(12)))

    assert driver.step().admitted == [("again", 0)]
    assert driver.table("again") == [0, 1, 2]
