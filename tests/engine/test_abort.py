"""An abort may come at any moment, for any id, any number of times."""

import pytest

from engine import Ended, NanoVllmPolicy, Policy, Request, VllmPolicy
from tests.engine.driver import Driver, limits, request, result_of

BOTH = pytest.mark.parametrize("policy", [VllmPolicy(), NanoVllmPolicy()], ids=["vllm", "nano_vllm"])


@BOTH
def test_waiting_request_is_aborted_once(policy: Policy) -> None:
    driver = Driver(policy, limits(), num_blocks=3)
    driver.add(request("running", 9, max_tokens=2), request("waiting", 9))
    driver.step()

    assert driver.scheduler.abort("waiting") == Ended("waiting", "aborted", "abort", ())
    assert driver.scheduler.abort("waiting") is None
    assert driver.scheduler.num_waiting == 0
    assert [step.rows for step in driver.finish()] == [[("running", 1)]]


@BOTH
def test_running_request_is_aborted_with_its_outputs_and_gives_back_its_blocks(policy: Policy) -> None:
    driver = Driver(policy, limits(), num_blocks=8)
    driver.add(request("a", 5, max_tokens=9), request("b", 5, max_tokens=3))
    driver.steps(2)

    assert driver.scheduler.abort("a") == Ended("a", "aborted", "abort", (1005, 1006))
    assert driver.num_free == 6
    assert [step.rows for step in driver.finish()] == [[("b", 1)]]
    assert driver.batches[-1].released == ("a",)
    assert driver.num_free == 8


@BOTH
def test_unknown_and_ended_requests_are_no_error(policy: Policy) -> None:
    driver = Driver(policy, limits(), num_blocks=8)
    assert driver.scheduler.abort("never added") is None
    driver.add(request("a", 5))
    driver.step()

    assert driver.scheduler.abort("a") is None


@BOTH
def test_prompt_cut_to_the_budget_is_aborted_between_its_chunks(policy: Policy) -> None:
    driver = Driver(policy, limits(max_num_batched_tokens=6), num_blocks=8)
    driver.add(request("cut", range(14), max_tokens=2))
    assert driver.step().rows == [("cut", 6)]

    assert driver.scheduler.abort("cut") == Ended("cut", "aborted", "abort", ())
    assert driver.num_free == 8
    assert (driver.scheduler.num_waiting, driver.scheduler.num_running) == (0, 0)


@BOTH
def test_only_the_computed_blocks_of_an_aborted_prompt_are_hit(policy: Policy) -> None:  # sglang#38319
    driver = Driver(policy, limits(max_num_batched_tokens=6), num_blocks=8)
    driver.add(request("cut", range(14), max_tokens=2))
    driver.step()
    driver.scheduler.abort("cut")
    driver.add(request("again", range(14), max_tokens=2))

    assert driver.step().admitted == [("again", 4)]  # 6 tokens were computed: one full block
    assert driver.batches[-1].released == ("cut",)


@BOTH
def test_abort_during_a_step_acts_at_once_and_the_result_is_ignored(policy: Policy) -> None:
    driver = Driver(policy, limits(), num_blocks=8)
    driver.add(request("a", range(9), max_tokens=9), request("b", 5, max_tokens=2))
    driver.step()
    batch = driver.scheduler.schedule()
    assert batch.request_ids == ("a", "b")

    ended = driver.scheduler.abort("a")

    assert ended == Ended("a", "aborted", "abort", (1009,))
    assert driver.num_free == 6
    assert driver.scheduler.abort("a") is None
    assert driver.scheduler.update(batch, result_of(batch)) == (Ended("b", "finished", "length", (1005, 1006)),)
    assert driver.num_free == 8


@BOTH
@pytest.mark.parametrize(
    "doomed",
    [
        request("a", range(5), max_tokens=2),
        request("a", range(5), max_tokens=9, stop_token_ids=frozenset({1006})),
        request("a", range(7), max_tokens=9),
    ],
    ids=["would end by length", "would stop", "would fill a block"],
)
@pytest.mark.parametrize("block_size", [1, 4])
def test_row_aborted_during_its_decode_neither_ends_again_nor_fills_a_block(
    policy: Policy, doomed: Request, block_size: int
) -> None:
    driver = Driver(policy, limits(block_size=block_size), num_blocks=32)
    driver.add(doomed, request("b", 5, max_tokens=3))
    driver.step()
    batch = driver.scheduler.schedule()
    ended = driver.scheduler.abort("a")

    assert ended == Ended("a", "aborted", "abort", (1000 + doomed.prompt.num_tokens,))
    assert driver.scheduler.update(batch, result_of(batch)) == ()
    assert driver.step().rows == [("b", 1)]
    assert driver.num_free == 32


@BOTH
def test_abort_of_every_row_during_a_step(policy: Policy) -> None:
    driver = Driver(policy, limits(), num_blocks=8)
    driver.add(request("a", 5, max_tokens=9), request("b", 5, max_tokens=9))
    batch = driver.scheduler.schedule()
    for name in "ab":
        driver.scheduler.abort(name)

    assert driver.scheduler.update(batch, result_of(batch)) == ()
    assert not driver.scheduler.has_unfinished
    assert driver.num_free == 8


def test_blocks_of_an_aborted_row_are_hit_once_its_step_has_completed() -> None:
    driver = Driver(VllmPolicy(), limits(), num_blocks=8)
    driver.add(request("a", range(9), max_tokens=9))
    batch = driver.scheduler.schedule()
    driver.scheduler.abort("a")
    driver.scheduler.update(batch, result_of(batch))
    driver.add(request("again", range(9)))

    assert driver.step().admitted == [("again", 8)]


def test_blocks_of_an_aborted_row_are_not_hit_if_its_step_has_failed() -> None:
    driver = Driver(VllmPolicy(), limits(), num_blocks=8)
    driver.add(request("a", range(9), max_tokens=9))
    batch = driver.scheduler.schedule()
    driver.scheduler.abort("a")
    assert driver.scheduler.fail(batch, "out of memory") == ()
    driver.add(request("again", range(9)))

    assert driver.step().admitted == [("again", 0)]


def test_request_that_hit_blocks_of_an_aborted_row_lives_on() -> None:
    driver = Driver(VllmPolicy(), limits(), num_blocks=8)
    driver.add(request("owner", range(9), max_tokens=9), request("hitter", range(9), max_tokens=2))
    batch = driver.scheduler.schedule()
    assert batch.admitted[1].num_hit_tokens == 8

    driver.scheduler.abort("owner")
    driver.scheduler.update(batch, result_of(batch))

    assert driver.step().rows == [("hitter", 1)]
    assert driver.num_free == 8


def test_preempted_request_is_aborted_while_it_waits() -> None:
    driver = Driver(VllmPolicy(), limits(), num_blocks=5)
    driver.add(request("a", 8, max_tokens=5), request("b", 7, max_tokens=5))
    while not driver.step().preempted:
        pass

    assert driver.scheduler.abort("b") == Ended("b", "aborted", "abort", (1007, 1008))
    driver.finish()
    assert [batch.released for batch in driver.batches if batch.released] == [("b",)]
    assert driver.num_free == 5


def test_ids_of_ended_requests_can_be_used_again() -> None:
    driver = Driver(VllmPolicy(), limits(), num_blocks=5)
    driver.add(request("a", 8, max_tokens=5))
    driver.step()
    driver.scheduler.abort("a")
    driver.add(request("a", 4, max_tokens=2))

    assert driver.finish()[-1].ended == [("a", "length")]
