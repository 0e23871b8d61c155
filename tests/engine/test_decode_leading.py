"""`View.decode_leading` decides what `compute` for each running sequence would."""

import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from engine import Policy, Request
from tests.machines import scheduler_state as state
from tests.machines.one_by_one import OneByOne
from tests.machines.universe import POLICIES, universes, workloads
from tests.machines.world import World

BUILT_IN = {name: policies for name, policies in POLICIES.items() if name != "any-legal"}


@pytest.mark.parametrize("policies", BUILT_IN.values(), ids=BUILT_IN)
@given(data=st.data(), requests=workloads(max_size=8), gaps=st.lists(st.integers(0, 6), min_size=8, max_size=8))
def test_decode_leading_equals_compute_for_each(
    policies: SearchStrategy[Policy], data: st.DataObject, requests: list[Request], gaps: list[int]
) -> None:
    """The same arrivals, aborts and failures: equal batches, and equal state at each step."""
    universe = data.draw(universes(policies))
    at_a_stroke, one_by_one = World(universe), World(universe, OneByOne(universe.policy))
    for request, gap in zip(requests, gaps, strict=False):
        if at_a_stroke.is_servable(request):
            at_a_stroke.add(request)
            one_by_one.add(request)
        step_both(at_a_stroke, one_by_one, data, num_steps=gap)
    step_both(at_a_stroke, one_by_one, data, num_steps=5)
    at_a_stroke.drain()
    one_by_one.drain()

    assert at_a_stroke.ends == one_by_one.ends
    assert whole_state(at_a_stroke) == whole_state(one_by_one)


def step_both(one: World, other: World, data: st.DataObject, num_steps: int) -> None:
    """Run some steps; in each, perhaps, a request is aborted and a row fails."""
    for _ in range(num_steps):
        assert one.schedule() == other.schedule()
        event("decoded all at a stroke" if one.scheduler._draft.is_decode_of_all else "some other step")
        aborted = data.draw(st.sampled_from(["", "", "", *one.row_ids]))
        failing = data.draw(st.sampled_from([(), (), (), one.row_ids[:1], one.row_ids[1:2]]))
        for world in (one, other):
            world.abort(aborted)
            if world.batch:
                world.execute(failing)
        assert whole_state(one) == whole_state(other)


def whole_state(world: World) -> object:
    """Everything that a later decision can depend on."""
    scheduler = world.scheduler
    seqs = [
        (seq.request_id, seq.block_table, seq.num_computed_tokens, seq.num_registered, seq.output_ids, seq.quiet_until)
        for seq in (*state.running(scheduler), *state.waiting(scheduler))
    ]
    return seqs, state.free_blocks(scheduler), state.findable(scheduler), state.key_of_blocks(scheduler)
