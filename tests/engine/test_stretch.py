"""Steps that are taken at a stroke leave the scheduler as if each had been asked for."""

import pytest

from engine import NanoVllmPolicy, Policy, VllmPolicy
from tests.engine.driver import Driver, limits, output_token, request
from tests.machines.plain_shape import plain_shape


def _decoding(policy: Policy) -> Driver:
    driver = Driver(policy, limits(), num_blocks=40)
    driver.add(request("a", 5, max_tokens=12), request("b", 9, max_tokens=7), request("c", 3, max_tokens=30))
    driver.steps(2)
    return driver


@pytest.mark.parametrize("policy", [VllmPolicy(), NanoVllmPolicy()], ids=["vllm", "nano"])
@pytest.mark.parametrize("num_steps", [1, 3, 5])
def test_steps_after_a_stretch_are_those_after_single_steps(policy: Policy, num_steps: int) -> None:
    """Of the 7 tokens of b, 2 are there: the stretch is 5 steps long and ends with it."""
    at_a_stroke, singly = _decoding(policy), _decoding(policy)
    stretch = at_a_stroke.scheduler.look_ahead(99)
    assert stretch is not None
    assert stretch.max_steps == 5
    tokens = [[output_token(first + step) for step in range(1, num_steps + 1)] for first in stretch.first_positions]

    outcome = at_a_stroke.scheduler.take(stretch, tokens)
    ended = [end for step in singly.steps(num_steps) for end in step.ended]

    assert [(each.request_id, each.reason) for each in outcome.ended] == ended
    assert ended == ([("b", "length")] if num_steps == 5 else [])
    assert at_a_stroke.finish() == singly.finish()
    assert at_a_stroke.batches[2:] == singly.batches[2 + num_steps :]
    assert [batch.shape for batch in at_a_stroke.batches] == [plain_shape(batch) for batch in at_a_stroke.batches]
