"""A row that fails takes with it those that read its blocks in that step, and nobody else."""

import pytest

from engine import BackendError, Ended, NanoVllmPolicy, Policy, Rules, View, VllmPolicy
from tests.engine.driver import Driver, limits, request

BOTH = pytest.mark.parametrize("policy", [VllmPolicy(), NanoVllmPolicy()], ids=["vllm", "nano_vllm"])
NAN = "Its logits are not finite."


@BOTH
def test_one_failed_row_ends_and_the_others_live_on(policy: Policy) -> None:
    driver = Driver(policy, limits(), num_blocks=8)
    driver.add(request("a", 5, max_tokens=3), request("bad", 5, max_tokens=3), request("c", 5, max_tokens=3))
    driver.step()

    assert driver.step(failed={"bad": NAN}).ended == [("bad", NAN)]
    assert driver.step().rows == [("a", 1), ("c", 1)]
    assert driver.batches[-1].released == ("bad",)
    assert driver.ended == {
        "a": Ended("a", "finished", "length", (1005, 1006, 1007)),
        "bad": Ended("bad", "failed", NAN, (1005,)),
        "c": Ended("c", "finished", "length", (1005, 1006, 1007)),
    }
    assert driver.num_free == 8


def test_request_that_hit_the_failed_row_in_the_same_step_fails_with_it() -> None:
    driver = Driver(VllmPolicy(), limits(), num_blocks=16)
    driver.add(request("bad", range(9), max_tokens=3), request("hitter", range(10), max_tokens=3), request("c", 5))

    step = driver.step(failed={"bad": NAN})

    assert step.admitted == [("bad", 0), ("hitter", 8), ("c", 0)]
    assert step.ended == [
        ("bad", NAN),
        ("hitter", f"It shares blocks with 'bad', which failed: {NAN}"),
        ("c", "length"),
    ]
    assert driver.ended["hitter"].status == "failed"
    assert driver.num_free == 16


def test_every_request_that_hit_the_failed_row_fails_with_it() -> None:
    driver = Driver(VllmPolicy(), limits(), num_blocks=16)
    driver.add(request("bad", range(5)), *[request(name, [*range(4), *name.encode()]) for name in "xyz"])

    step = driver.step(failed={"bad": NAN})

    assert step.admitted == [("bad", 0), ("x", 4), ("y", 4), ("z", 4)]
    assert {end.status for end in driver.ended.values()} == {"failed"}
    assert driver.num_free == 16


def test_failure_spreads_along_a_chain_of_hits() -> None:
    driver = Driver(VllmPolicy(), limits(), num_blocks=16)
    driver.add(request("bad", range(5)), request("second", range(9)), request("third", [*range(8), 70]))

    step = driver.step(failed={"bad": NAN})

    assert step.admitted == [("bad", 0), ("second", 4), ("third", 8)]
    assert [name for name, _ in step.ended] == ["bad", "second", "third"]
    assert {end.status for end in driver.ended.values()} == {"failed"}
    assert driver.num_free == 16


class NewestCopy:
    """Policy `vllm`, but the newest of several equal blocks is the one that is found."""

    rules = Rules(keep_duplicates=False)

    def select(self, view: View) -> None:
        """Schedule as policy `vllm`."""
        VllmPolicy().select(view)


def test_failure_spreads_to_those_who_hit_only_what_a_hitter_should_have_filled() -> None:
    driver = Driver(NewestCopy(), limits(), num_blocks=16)
    driver.add(
        request("bad", range(5)), request("second", range(9)), request("copy", range(4)), request("third", range(10))
    )

    step = driver.step(failed={"bad": NAN})

    # "third" has the first block from "copy", which is good, and the second one from "second", which is not.
    assert step.admitted == [("bad", 0), ("second", 4), ("copy", 0), ("third", 8)]
    assert [each.block_table for each in driver.batches[0].admitted] == [(0, 1), (0, 2, 3), (4,), (4, 2, 5)]
    assert [name for name, _ in step.ended] == ["bad", "second", "third", "copy"]
    assert driver.ended["copy"].status == "finished"
    assert driver.ended["third"].reason == (
        f"It shares blocks with 'second', which failed: It shares blocks with 'bad', which failed: {NAN}"
    )


def test_failure_does_not_spread_upwards() -> None:
    driver = Driver(VllmPolicy(), limits(), num_blocks=16)
    driver.add(request("owner", range(5), max_tokens=2), request("hitter", range(9), max_tokens=2))

    assert driver.step(failed={"hitter": NAN}).ended == [("hitter", NAN)]
    assert driver.step().rows == [("owner", 1)]


def test_request_that_hit_the_row_in_an_earlier_step_lives_on() -> None:
    driver = Driver(VllmPolicy(), limits(), num_blocks=16)
    driver.add(request("bad", range(9), max_tokens=5))
    driver.step()
    driver.add(request("hitter", range(9), max_tokens=2))
    driver.step()

    assert driver.step(failed={"bad": NAN}).ended == [("bad", NAN), ("hitter", "length")]


@BOTH
def test_no_block_of_a_failed_row_is_hit(policy: Policy) -> None:
    driver = Driver(policy, limits(max_num_batched_tokens=8), num_blocks=16)
    driver.add(request("bad", range(20), max_tokens=2))
    driver.step()  # blocks 0 and 1 got no logits that could have shown whether they are good
    driver.step(failed={"bad": NAN})
    driver.add(request("again", range(20), max_tokens=2))

    assert driver.step().admitted == [("again", 0)]


@BOTH
def test_hits_of_a_failed_row_are_hit_no_more_and_who_computes_on_them_lives(policy: Policy) -> None:
    driver = Driver(policy, limits(), num_blocks=16)
    driver.add(request("first", range(9), max_tokens=9))
    driver.step()
    driver.add(request("bad", [*range(8), 50], max_tokens=2))
    assert driver.step(failed={"bad": NAN}).ended == [("bad", NAN)]
    driver.add(request("again", range(9), max_tokens=2))

    assert driver.step().admitted == [("again", 0)]
    driver.finish()
    assert {name: end.status for name, end in driver.ended.items()} == {
        "bad": "failed",
        "first": "finished",
        "again": "finished",
    }
    assert driver.num_free == 16


@BOTH
def test_block_that_a_failed_decode_should_have_filled_is_not_hit(policy: Policy) -> None:
    driver = Driver(policy, limits(), num_blocks=16)
    driver.add(request("bad", range(7), max_tokens=5))
    driver.step()
    driver.step(failed={"bad": NAN})  # the token at position 7 would have filled block 1
    driver.add(request("again", [*range(7), 1007, 5, 5]))

    assert driver.step().admitted == [("again", 4)]


def test_block_filled_by_a_decode_is_hit() -> None:
    driver = Driver(VllmPolicy(), limits(), num_blocks=16)
    driver.add(request("good", range(7), max_tokens=5))
    driver.steps(2)
    driver.add(request("next", [*range(7), 1007, 5, 5]))

    assert driver.step().admitted == [("next", 8)]


def test_prompt_cut_to_the_budget_can_fail() -> None:
    driver = Driver(NanoVllmPolicy(), limits(max_num_batched_tokens=6), num_blocks=8)
    driver.add(request("cut", range(14), max_tokens=2), request("next", 3))

    assert driver.step(failed={"cut": NAN}).ended == [("cut", NAN)]
    assert driver.step().rows == [("next", 3)]
    assert driver.num_free == 8


@BOTH
def test_batch_that_the_backend_could_not_execute_ends_its_rows_only(policy: Policy) -> None:
    driver = Driver(policy, limits(max_num_seqs=2), num_blocks=16)
    driver.add(*[request(name, 5, max_tokens=2) for name in "abc"])
    batch = driver.scheduler.schedule()

    ended = driver.scheduler.fail(batch, "The device is lost.")

    assert ended == (
        Ended("a", "failed", "The device is lost.", ()),
        Ended("b", "failed", "The device is lost.", ()),
    )
    assert [step.rows for step in driver.finish()] == [[("c", 5)], [("c", 1)]]
    assert driver.num_free == 16


def test_request_that_fails_in_its_last_step_ends_once() -> None:
    driver = Driver(VllmPolicy(), limits(), num_blocks=16)
    driver.add(request("a", 5, max_tokens=1))

    assert driver.step(failed={"a": NAN}).ended == [("a", NAN)]
    assert not driver.scheduler.has_unfinished


def test_a_failure_of_a_row_that_the_batch_does_not_have_is_refused() -> None:
    driver = Driver(VllmPolicy(), limits(), 8)
    driver.add(request("a", range(5), max_tokens=3))

    with pytest.raises(BackendError, match="failed ghost, which no row of the batch computes"):
        driver.step(failed={"ghost": "no such row"})
