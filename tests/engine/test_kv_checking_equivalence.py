"""Cut, cached or preempted, a request yields the tokens that it yields alone: every read is checked on the way."""

import pytest
from hypothesis import event, given, target
from hypothesis import strategies as st

from engine import Ended, Limits, NanoVllmPolicy, Policy, Request, SamplingParams, TokenPrompt, VllmPolicy
from tests.machines.universe import BLOCK_SIZE, Universe, workloads
from tests.machines.world import World

AMPLE = 200
MAX_MODEL_LEN = 48

budgets = st.integers(1, 24)
pools = st.integers(1, 12) | st.integers(13, AMPLE)
seats = st.integers(1, 5)


def start(
    requests: list[Request],
    policy: Policy,
    *,
    budget: int = MAX_MODEL_LEN,
    num_blocks: int = AMPLE,
    max_num_seqs: int = 5,
) -> World:
    """A world with the requests that its pool can serve."""
    limits = Limits(
        block_size=BLOCK_SIZE,
        max_num_batched_tokens=budget,
        max_num_seqs=max_num_seqs,
        max_model_len=MAX_MODEL_LEN,
    )
    world = World(Universe(policy, limits, num_blocks))
    for request in filter(world.is_servable, requests):
        world.add(request)
    return world


def serve(requests: list[Request], policy: Policy, **sizes: int) -> World:
    """The world in which all have ended."""
    world = start(requests, policy, **sizes)
    world.drain()
    return world


def assert_same_tokens(one: World, other: World) -> None:
    """Equal for requests that finished in both; who outgrew its pool has the beginning of what the other has."""
    ends = {each.request_id: each for each in other.ends}
    for left in one.ends:
        right: Ended | None = ends.get(left.request_id)
        if right is not None:
            length = min(len(left.output_ids), len(right.output_ids))
            assert left.output_ids[:length] == right.output_ids[:length]
            assert len(left.output_ids) == len(right.output_ids) or "failed" in (left.status, right.status)


@given(workloads(), budgets, pools, seats)
def test_chunked_equals_unchunked(requests: list[Request], budget: int, num_blocks: int, max_num_seqs: int) -> None:
    chunked = serve(requests, VllmPolicy(), budget=budget, num_blocks=num_blocks, max_num_seqs=max_num_seqs)
    unchunked = serve(requests, VllmPolicy(chunked_prefill=False), num_blocks=num_blocks, max_num_seqs=max_num_seqs)

    assert_same_tokens(chunked, unchunked)


@given(workloads(), budgets, pools, seats)
def test_chunked_equals_unchunked_nano(requests: list[Request], budget: int, num_blocks: int, seats: int) -> None:
    chunked = serve(requests, NanoVllmPolicy(), budget=budget, num_blocks=num_blocks, max_num_seqs=seats)
    unchunked = serve(requests, NanoVllmPolicy(), num_blocks=num_blocks, max_num_seqs=seats)

    assert_same_tokens(chunked, unchunked)


@given(workloads(), budgets, pools, seats)
def test_cached_equals_cold(requests: list[Request], budget: int, num_blocks: int, seats: int) -> None:
    cached = serve(requests, VllmPolicy(), budget=budget, num_blocks=num_blocks, max_num_seqs=seats)
    cold = serve(requests, VllmPolicy(prefix_caching=False), budget=budget, num_blocks=num_blocks, max_num_seqs=seats)

    assert_same_tokens(cached, cold)


@pytest.mark.parametrize(
    "policy",
    [NanoVllmPolicy(), VllmPolicy(), VllmPolicy(scheduling_policy="priority"), VllmPolicy(reserve_full_prompt=False)],
    ids=["nano", "vllm", "vllm-priority", "vllm-no-reserve"],
)
@given(requests=workloads(), budget=budgets, num_blocks=st.integers(2, 12), seats=seats)
def test_preempted_equals_uninterrupted(
    policy: Policy, requests: list[Request], budget: int, num_blocks: int, seats: int
) -> None:
    preempted = serve(requests, policy, budget=budget, num_blocks=num_blocks, max_num_seqs=seats)
    uninterrupted = serve(requests, policy, budget=budget, max_num_seqs=seats)

    target(float(preempted.num_preemptions))
    event(f"preempted: {preempted.num_preemptions > 0}")
    assert uninterrupted.num_preemptions == 0
    assert_same_tokens(preempted, uninterrupted)


@given(requests=workloads(max_size=8), failing=st.sets(st.integers(0, 7), min_size=1, max_size=3), budget=budgets)
def test_failed_rows_take_along_those_that_hit_them_and_nobody_else(
    requests: list[Request], failing: set[int], budget: int
) -> None:
    """`World` compares who failed with the rows that read what a failed row should have written."""
    world = start(requests, VllmPolicy(), budget=3 * budget, max_num_seqs=8)
    world.schedule()
    told_to_fail = [name for i, name in enumerate(world.row_ids) if i in failing]
    world.execute(told_to_fail)
    lost = world.backend.lost
    num_taken_along = len(lost) - len(told_to_fail)
    target(float(num_taken_along))
    event(f"taken along: {num_taken_along}")
    world.drain()

    assert {each.request_id for each in world.ends if each.status == "failed"} == lost


def test_these_runs_are_cut_cached_and_preempted() -> None:
    """One workload on which all of that happens, so that none of the above is vacuous."""
    requests = [
        Request(f"r{i}", TokenPrompt([*range(8), *[10 + i] * 5]), SamplingParams(max_tokens=10)) for i in range(3)
    ]
    world = serve(requests, VllmPolicy(), budget=7, num_blocks=9)

    assert world.num_preemptions > 0
    assert world.num_hit_tokens > 0
    assert world.num_chunks > 0
    assert [each.status for each in world.ends] == ["finished"] * 3
