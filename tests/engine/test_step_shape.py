"""The size of a step, number by number."""

from engine import StepShape, VllmPolicy
from tests.engine.driver import Driver, limits, request


def _causal_pairs(shape: StepShape) -> float:
    """Query-key pairs of the prefill rows, from the sums in the shape."""
    return shape.prefill_qk - (shape.prefill_qq - shape.num_prefill_tokens) / 2


def _shapes(driver: Driver, count: int) -> list[StepShape]:
    driver.steps(count)
    return [batch.shape for batch in driver.batches]


def test_shape_of_prompts_and_then_of_decodes() -> None:
    driver = Driver(VllmPolicy(), limits(), num_blocks=16)
    driver.add(request("a", 5, max_tokens=3), request("b", 9, max_tokens=9))

    prefill, first, second = _shapes(driver, 3)

    assert prefill == StepShape(
        num_prefill_tokens=14,
        num_prefill_seqs=2,
        prefill_qk=25 + 81,
        prefill_qq=25 + 81,
        prefill_context=5 + 9,
        max_query=9,
        max_context=9,
        num_decode_seqs=0,
        decode_context=0,
        decode_context_sq=0,
        max_decode_context=0,
        shared_context=0,
        num_sampled=2,
        num_new_blocks=5,
        num_admitted=2,
        num_released=0,
    )
    assert first == StepShape(0, 0, 0, 0, 0, 1, 10, 2, 6 + 10, 36 + 100, 10, 0, 2, 0, 0, 0)
    assert second == StepShape(0, 0, 0, 0, 0, 1, 11, 2, 7 + 11, 49 + 121, 11, 0, 2, 0, 0, 0)


def test_shape_of_a_mixed_step_with_a_cut_prompt_a_hit_and_a_release() -> None:
    driver = Driver(VllmPolicy(), limits(max_num_batched_tokens=10), num_blocks=32)
    driver.add(request("done", range(9)))
    driver.step()
    driver.add(request("decode", 3, max_tokens=9))
    driver.step()
    driver.add(request("hit", [*range(8), 70, 71, 72]), request("cut", 20))
    driver.steps(2)

    # Rows: decode 1 at 3; hit 3 after 8; cut 6 of 20. Then decode 1 at 4; cut 9 more at 6.
    assert driver.batches[2].num_tokens == (1, 3, 6)
    assert driver.batches[2].shape == StepShape(
        num_prefill_tokens=9,
        num_prefill_seqs=2,
        prefill_qk=3 * 11 + 6 * 6,
        prefill_qq=9 + 36,
        prefill_context=11 + 6,
        max_query=6,
        max_context=11,
        num_decode_seqs=1,
        decode_context=4,
        decode_context_sq=16,
        max_decode_context=4,
        shared_context=0,
        num_sampled=2,
        num_new_blocks=1 + 2,
        num_admitted=2,
        num_released=0,
    )
    assert driver.batches[1].shape.num_released == 1
    assert driver.batches[3].shape == StepShape(9, 1, 9 * 15, 81, 15, 9, 15, 1, 5, 25, 5, 0, 1, 1 + 2, 0, 1)


def test_causal_work_of_chunks_is_that_of_the_whole_prompt() -> None:
    whole = Driver(VllmPolicy(), limits(), num_blocks=32)
    whole.add(request("a", 30))
    cut = Driver(VllmPolicy(), limits(max_num_batched_tokens=7), num_blocks=32)
    cut.add(request("a", 30))

    (shape,) = _shapes(whole, 1)
    chunks = _shapes(cut, 5)

    assert [each.num_prefill_tokens for each in chunks] == [7, 7, 7, 7, 2]
    assert _causal_pairs(shape) == 465.0  # 1 + 2 + ... + 30
    assert [_causal_pairs(each) for each in chunks] == [28.0, 77.0, 126.0, 175.0, 59.0]


def test_prompt_row_of_one_token_counts_as_a_decode_row() -> None:
    driver = Driver(VllmPolicy(), limits(max_num_batched_tokens=5), num_blocks=32)
    driver.add(request("a", 6))

    first, second = _shapes(driver, 2)

    assert (first.num_prefill_seqs, first.num_decode_seqs, first.num_sampled) == (1, 0, 0)
    assert second == StepShape(0, 0, 0, 0, 0, 1, 6, 1, 6, 36, 6, 0, 1, 0, 0, 0)


def test_longest_context_may_belong_to_a_decode_row() -> None:
    driver = Driver(VllmPolicy(), limits(), num_blocks=32)
    driver.add(request("long", 30, max_tokens=3))
    driver.step()
    driver.add(request("short", 3))
    driver.step()

    assert driver.batches[1].shape.max_context == driver.batches[1].shape.max_decode_context == 31
    assert driver.batches[1].shape.max_query == 3


def test_longest_context_of_decode_rows_is_told_apart_from_a_longer_chunk() -> None:
    driver = Driver(VllmPolicy(), limits(), num_blocks=32)
    driver.add(request("short", 3, max_tokens=3))
    driver.step()
    driver.add(request("long", 30))
    driver.step()

    assert (driver.batches[1].shape.max_context, driver.batches[1].shape.max_decode_context) == (30, 4)


def test_blocks_of_a_withdrawn_row_still_count_as_handed_out() -> None:
    driver = Driver(VllmPolicy(scheduling_policy="priority"), limits(), num_blocks=5)
    driver.add(request("low", 7, max_tokens=9, priority=5))
    driver.step()
    driver.add(request("high", 8, max_tokens=9))
    driver.step()
    batch = driver.scheduler.schedule()

    # Both need a third block: "low" took the last one, then lost it to "high" in the same step.
    assert batch.preempted == ("low",)
    assert batch.request_ids == ("high",)
    assert batch.new_blocks == (("high", (4,)),)
    assert batch.shape.num_new_blocks == 2


def test_blocks_that_several_hold_are_counted_for_each_but_one() -> None:
    driver = Driver(VllmPolicy(), limits(), num_blocks=32)
    driver.add(request("a", range(11), max_tokens=2), request("b", range(11), max_tokens=9))
    driver.add(request("c", [*range(4), 50], max_tokens=9))

    shapes = _shapes(driver, 3)

    # Of blocks of 4 tokens, a and b have two in common and c has the first of them; a ends after the second step.
    assert [shape.shared_context for shape in shapes] == [3 * 4, 3 * 4, 4]
    stretch = driver.scheduler.look_ahead(5)
    assert stretch is not None
    assert stretch.shared_context == 4
