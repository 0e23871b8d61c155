"""Hits are counted once, at admission; what is computed again after a preemption is told apart."""

from engine import Batch, VllmPolicy
from tests.engine.driver import Driver, limits, request


def _hit_tokens(batches: list[Batch], *, is_resumed: bool) -> int:
    admissions = [admission for batch in batches for admission in batch.admitted]
    return sum(each.num_hit_tokens for each in admissions if each.is_resumed is is_resumed)


def test_request_that_waits_is_counted_once_when_it_is_admitted() -> None:  # vllm#43736
    driver = Driver(VllmPolicy(), limits(), num_blocks=7)
    driver.add(request("holder", range(16), max_tokens=11))
    driver.step()
    driver.add(request("waiting", [*range(8), *range(50, 62)]))

    steps = driver.finish()

    assert [step.admitted for step in steps] == [[]] * 10 + [[("waiting", 8)]]
    assert _hit_tokens(driver.batches, is_resumed=False) == 8


def test_tokens_computed_again_after_a_preemption_are_no_hits_of_the_workload() -> None:  # vllm#25780
    driver = Driver(VllmPolicy(), limits(), num_blocks=10)
    driver.add(*[request(f"{k}", range(100 * k, 100 * k + 8), max_tokens=5) for k in range(4)])

    steps = driver.finish()

    assert [step.preempted for step in steps if step.preempted] == [["3"]]
    assert _hit_tokens(driver.batches, is_resumed=False) == 0
    assert _hit_tokens(driver.batches, is_resumed=True) == 4  # its first block; the second one was reused
    # Three times 8 + 4; the preempted one 8, then 5 of its 9 again, then 3.
    assert sum(tokens for step in steps for _, tokens in step.rows) == 52


def test_resumed_request_brings_its_outputs_and_is_marked() -> None:
    driver = Driver(VllmPolicy(), limits(), num_blocks=5)
    driver.add(request("a", 8, max_tokens=5), request("b", 7, max_tokens=5))
    driver.finish()

    first, resumed = [each for batch in driver.batches for each in batch.admitted if each.request_id == "b"]

    assert (first.is_resumed, first.output_ids, first.num_hit_tokens) == (False, (), 0)
    assert (resumed.is_resumed, resumed.output_ids, resumed.num_hit_tokens) == (True, (1007, 1008), 8)
    assert driver.scheduler.block_manager.num_free == 5
