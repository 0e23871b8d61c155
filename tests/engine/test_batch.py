"""A batch is a frozen value that tells a backend everything it needs, once."""

from dataclasses import FrozenInstanceError

import pytest

from engine import BackendError, NanoVllmPolicy, Policy, SamplingParams, StepResult, TokenPrompt, VllmPolicy
from tests.engine.driver import Driver, limits, request, result_of

BOTH = pytest.mark.parametrize("policy", [VllmPolicy(), NanoVllmPolicy()], ids=["vllm", "nano_vllm"])


def _driver(num_blocks: int = 16, budget: int = 64) -> Driver:
    return Driver(VllmPolicy(), limits(max_num_batched_tokens=budget), num_blocks)


def test_columns_of_a_mixed_step() -> None:
    driver = _driver(budget=9)
    driver.add(request("a", 4, max_tokens=9), request("b", 7, max_tokens=9))
    driver.steps(2)

    first, second = driver.batches

    assert len(first) == 2
    assert first.step == 0
    assert first.request_ids == ("a", "b")
    assert first.first_positions == (0, 0)
    assert first.num_tokens == (4, 5)
    assert first.samples == (True, False)
    assert first.new_blocks == ()
    assert [each.block_table for each in first.admitted] == [(0,), (1, 2)]
    assert second.step == 1
    assert second.request_ids == ("a", "b")
    assert second.first_positions == (4, 5)
    assert second.num_tokens == (1, 2)
    assert second.samples == (True, True)
    assert second.new_blocks == (("a", (3,)),)
    assert (second.admitted, second.preempted, second.released, second.ended) == ((), (), (), ())


def test_admission_holds_all_that_a_backend_must_know() -> None:
    driver = _driver()
    each = request("a", range(6), max_tokens=2)
    driver.add(each)
    driver.step()

    (admission,) = driver.batches[0].admitted

    assert admission.request_id == "a"
    assert admission.prompt is each.prompt
    assert admission.params == SamplingParams(max_tokens=2)
    assert admission.output_ids == ()
    assert admission.block_table == (0, 1)
    assert admission.num_hit_tokens == 0
    assert admission.is_resumed is False


def test_batch_and_its_parts_cannot_be_changed() -> None:
    driver = _driver()
    driver.add(request("a", 6, max_tokens=2))
    batch = driver.scheduler.schedule()

    with pytest.raises(FrozenInstanceError):
        batch.request_ids = ()  # type: ignore[misc]  # the point of the test
    with pytest.raises(AttributeError):
        batch.shape.num_sampled = 0  # type: ignore[misc]  # the point of the test
    with pytest.raises(AttributeError):
        batch.admitted[0].block_table = ()  # type: ignore[misc]  # the point of the test
    columns = [getattr(batch, name) for name in batch.__slots__ if name not in ("step", "shape")]
    assert {type(column) for column in columns} == {tuple}


def test_step_result_cannot_be_changed() -> None:
    result = StepResult((1,), 0.5, 0.25)

    with pytest.raises(FrozenInstanceError):
        result.token_ids = ()  # type: ignore[misc]  # the point of the test
    assert (result.graph_size, result.failed) == (None, {})


def test_values_of_an_old_batch_do_not_follow_the_engine() -> None:  # mini-sglang 94fe255
    tokens = list(range(6))
    prompt = TokenPrompt(tokens)
    driver = _driver()
    driver.add(request("a", prompt, max_tokens=9))
    driver.step()
    before = repr(driver.batches[0])

    tokens[0] = 77
    driver.steps(5)

    assert repr(driver.batches[0]) == before
    assert driver.batches[0].admitted[0].block_table == (0, 1)
    assert prompt.token_ids == (0, 1, 2, 3, 4, 5)


def test_block_table_of_a_short_sequence_has_no_tail_of_a_long_one() -> None:  # sparkinfer PR 185
    driver = _driver(num_blocks=6)
    driver.add(request("long", 20, max_tokens=1))
    driver.step()
    driver.add(request("short", 5, max_tokens=5))
    driver.finish()

    assert driver.batches[0].admitted[0].block_table == (0, 1, 2, 3, 4)
    assert driver.batches[1].admitted[0].block_table == (5, 4)
    assert [batch.new_blocks for batch in driver.batches[1:]] == [(), (), (), (), (("short", (3,)),)]


def test_request_is_released_in_the_next_batch_that_has_rows() -> None:
    driver = _driver()
    driver.add(request("a", 3, max_tokens=1))
    driver.step()
    assert [len(driver.scheduler.schedule()) for _ in range(2)] == [0, 0]
    driver.add(request("b", 3, max_tokens=2))
    driver.steps(2)

    assert [batch.released for batch in driver.batches] == [(), ("a",), ()]
    assert [batch.shape.num_released for batch in driver.batches] == [0, 1, 0]
    assert [batch.step for batch in driver.batches] == [0, 3, 4]


def test_id_can_be_released_and_admitted_in_one_batch() -> None:
    driver = _driver()
    driver.add(request("a", 3, max_tokens=1))
    driver.step()
    driver.ended.clear()
    driver.add(request("a", 5, max_tokens=1))
    driver.step()

    assert driver.batches[1].released == ("a",)
    assert [(each.request_id, each.is_resumed) for each in driver.batches[1].admitted] == [("a", False)]


def test_preempted_request_is_released_with_the_batch_that_preempts_it() -> None:
    driver = _driver(num_blocks=5)
    driver.add(request("a", 8, max_tokens=5), request("b", 7, max_tokens=5))
    driver.finish()

    assert [(batch.preempted, batch.released) for batch in driver.batches if batch.preempted] == [(("b",), ("b",))]
    # It is not released once more when it is resumed.
    assert [batch.released for batch in driver.batches if batch.admitted] == [(), ("a",)]


@pytest.mark.parametrize(
    ("version", "rows", "released"),
    [("0.25", [1, 2, 2, 0, 1], [(), (), (), (), ("low",)]), ("0.33", [1, 2, 2, 1, 1], [(), (), (), ("low",), ()])],
)
def test_preemption_in_a_step_without_rows_is_released_with_the_next_rows(
    version: str, rows: list[int], released: list[tuple[str, ...]]
) -> None:
    policy = VllmPolicy(scheduling_policy="priority", vllm_version=version)  # type: ignore[arg-type]  # one of two
    driver = Driver(policy, limits(), num_blocks=5)
    driver.add(request("low", 6, max_tokens=8, priority=5))
    driver.step()
    driver.add(request("high", 8, max_tokens=5))
    driver.steps(4)

    assert driver.batches[3].preempted == ("low",)
    assert [len(batch) for batch in driver.batches] == rows
    assert [batch.released for batch in driver.batches] == released


def test_waiting_request_that_is_aborted_was_never_known_and_is_not_released() -> None:
    driver = _driver(num_blocks=3)
    driver.add(request("a", 9, max_tokens=3), request("b", 9))
    driver.step()
    driver.scheduler.abort("b")
    driver.step()

    assert driver.batches[1].released == ()


@BOTH
def test_result_with_the_wrong_number_of_tokens_is_a_backend_error(policy: Policy) -> None:
    driver = Driver(policy, limits(), 16)
    driver.add(request("a", 3, max_tokens=2), request("b", 3, max_tokens=2))
    batch = driver.scheduler.schedule()

    with pytest.raises(BackendError) as error:
        driver.scheduler.update(batch, StepResult((1,), 0.0, 0.0))

    assert str(error.value) == (
        "The backend returned 1 tokens for the 2 sampling rows of step 0; it must return one for each."
    )


def test_update_takes_no_batch_but_the_last() -> None:
    driver = _driver()
    driver.add(request("a", 3, max_tokens=3))
    driver.steps(2)

    with pytest.raises(AssertionError, match="the batch that was scheduled last"):
        driver.scheduler.update(driver.batches[0], result_of(driver.batches[0]))
