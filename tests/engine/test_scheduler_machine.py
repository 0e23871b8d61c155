"""The scheduler under any order of arrivals, steps, failures and aborts: every invariant after every rule."""

from functools import partial
from itertools import product

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from hypothesis.strategies import SearchStrategy

from engine import Policy, Prompt, Request, RequestError, SamplingParams
from tests.machines import scheduler_state as state
from tests.machines.plain_shape import plain_shape
from tests.machines.universe import POLICIES, prompts, sampling_params, universes, workloads
from tests.machines.world import World

MAX_LIVE = 8
names = st.sampled_from([f"r{i}" for i in range(10)])

is_between_steps = precondition(lambda self: self.world.batch is None)
is_in_a_step = precondition(lambda self: self.world.batch is not None)
is_crowded = precondition(lambda self: len(self.world.live_ids) >= self.crowd)


class SchedulerMachine(RuleBasedStateMachine):
    """Rules are what a caller can do; the invariants are those of the design, by their names."""

    def __init__(self, policies: SearchStrategy[Policy]) -> None:
        super().__init__()
        self.policies = policies
        self.world: World = None  # type: ignore[assignment]  # `start` makes it before anything else runs

    @initialize(data=st.data(), requests=workloads(max_size=MAX_LIVE), crowd=st.sampled_from([1, 3, 4]))
    def start(self, data: st.DataObject, requests: list[Request], crowd: int) -> None:
        """Where accidents strike only a crowd, the requests live long enough to compete for blocks."""
        self.crowd = crowd
        self.world = World(data.draw(universes(self.policies)))
        self.scheduler = self.world.scheduler
        for request in filter(self.world.is_servable, requests):
            self.world.add(request)

    @precondition(lambda self: len(self.world.live_ids) < MAX_LIVE)
    @rule(name=names, prompt=prompts, params=sampling_params, priority=st.integers(0, 2))
    def add(self, name: str, prompt: Prompt, params: SamplingParams, priority: int) -> None:
        request = Request(name, prompt, params, priority)
        if self.world.is_servable(request) and name not in self.world.live_ids:
            self.world.add(request)
        else:
            with pytest.raises(RequestError):
                self.scheduler.add(request)

    @is_between_steps
    @is_crowded
    @rule()
    def schedule(self) -> None:
        self.world.schedule()

    @is_in_a_step
    @rule()
    def update(self) -> None:
        self.world.execute()

    @is_in_a_step
    @is_crowded
    @rule(data=st.data())
    def update_with_failed_row(self, data: st.DataObject) -> None:
        self.world.execute(failing=[data.draw(st.sampled_from(self.world.row_ids))])

    @is_in_a_step
    @is_crowded
    @rule()
    def fail_backend(self) -> None:
        self.world.execute(failing=self.world.row_ids)

    @is_crowded
    @rule(data=st.data())
    def abort(self, data: st.DataObject) -> None:
        """At any moment, also while the request is a row of the step that is being executed."""
        live = self.world.live_ids
        name = data.draw(st.sampled_from(sorted([*live.intersection(self.world.row_ids), *live])))
        self.world.abort(name)
        self.world.abort(name)

    @precondition(lambda self: self.scheduler.has_unfinished)
    @rule(num_half_steps=st.integers(1, 12))
    def go_on(self, num_half_steps: int) -> None:
        """Leads to crowded states that single steps seldom reach."""
        for _ in range(num_half_steps):
            self.world.half_step()

    def teardown(self) -> None:
        if self.world:
            self.world.drain()
            self.all_blocks_are_free_when_all_have_ended()
            self.every_request_ends_exactly_once()

    @invariant()
    def blocks_are_conserved(self) -> None:
        held, free = state.tables_with(self.scheduler), state.free_blocks(self.scheduler)
        assert sorted([*held, *free]) == list(range(self.world.universe.num_blocks))
        assert self.scheduler.block_manager.num_free == len(free)

    @invariant()
    def ref_count_is_number_of_tables(self) -> None:
        tables = state.tables_with(self.scheduler)
        assert state.num_holders(self.scheduler) == [tables[i] for i in range(self.world.universe.num_blocks)]
        num_shared = sum(tables.values()) - len(tables)
        assert self.scheduler.block_manager.shared_tokens == num_shared * self.scheduler.limits.block_size

    @invariant()
    def no_id_is_free_twice(self) -> None:
        free = state.free_blocks(self.scheduler)
        assert len(set(free)) == len(free)

    @invariant()
    def key_maps_only_to_blocks_that_hold_its_tokens(self) -> None:
        """Within a step also to blocks that a row of its batch holds and has yet to fill."""
        keys = state.key_of_blocks(self.scheduler)
        held_by_rows = set().union(*self.world.held.values())
        for key, block_ids in state.findable(self.scheduler):
            for block_id in block_ids:
                assert keys[block_id] == key
                is_filled = self.world.backend.block(block_id) == self.world.ledger.content_of(key)
                assert is_filled or block_id in held_by_rows

    @invariant()
    def shared_blocks_are_never_written(self) -> None:
        """Whoever else holds a block that a row writes was admitted on it in this very step, and does not write it."""
        admitted = {each.request_id for each in self.world.batch.admitted} if self.world.batch else set()
        for seq, writer in product(state.live(self.scheduler), self.world.written):
            shared = self.world.written[writer].intersection(seq.block_table)
            if shared and seq is not writer:
                assert seq.request_id in admitted
                assert shared.isdisjoint(self.world.written[seq])

    @invariant()
    def no_sequence_waits_and_runs_at_once(self) -> None:
        running, waiting = state.running(self.scheduler), state.waiting(self.scheduler)
        assert sorted(seq.request_id for seq in (*running, *waiting)) == sorted(self.world.live_ids)
        assert [seq.is_running for seq in (*running, *waiting)] == [True] * len(running) + [False] * len(waiting)
        assert (self.scheduler.num_running, self.scheduler.num_waiting) == (len(running), len(waiting))

    @invariant()
    def step_is_within_its_budgets(self) -> None:
        batch, limits = self.world.batch, self.world.limits
        if batch:
            is_decode_alone = self.world.is_nano and set(batch.num_tokens) == {1} and not batch.admitted
            assert len(batch) <= limits.max_num_seqs
            assert sum(batch.num_tokens) <= limits.max_num_batched_tokens or is_decode_alone

    @invariant()
    def shape_is_that_of_the_rows(self) -> None:
        if self.world.batch:
            assert self.world.batch.shape == plain_shape(self.world.batch)

    @invariant()
    def sums_that_are_kept_are_those_of_the_running_decodes(self) -> None:
        sums = state.kept_sums(self.scheduler)
        if sums is not None:
            contexts = [seq.num_computed_tokens + 1 for seq in state.decoding(self.scheduler)]
            right = (len(contexts), sum(contexts), sum(n * n for n in contexts), max(contexts, default=0))
            assert (sums.num_rows, sums.total, sums.total_sq, sums.longest) == right

    @invariant()
    def nobody_reaches_its_length_unseen(self) -> None:
        steps = state.steps_to_length(self.scheduler)
        assert steps.keys() == set(state.decoding(self.scheduler))
        assert all(1 <= steps[seq] <= seq.num_steps_left for seq in steps)

    @invariant()
    def running_set_is_within_max_num_seqs(self) -> None:
        assert self.scheduler.num_running <= self.world.limits.max_num_seqs or self.world.is_nano

    @invariant()
    def work_implies_progress(self) -> None:
        assert self.world.has_progressed

    @invariant()
    def each_token_is_computed_once_in_order(self) -> None:
        """The backend insists on it, and follows tables by what batches said: it must have come to the same state."""
        for seq in state.live(self.scheduler):
            if seq.block_table and seq.request_id not in self.world.row_ids:
                held = self.world.backend.held[seq.request_id]
                known = (seq.block_table, seq.num_computed_tokens, seq.num_tokens)
                assert (held.table, held.num_computed, len(held.entries)) == known

    @invariant()
    def every_request_ends_exactly_once(self) -> None:
        ledger = self.world.ledger
        num_live = {name: ledger.num_added[name] - ledger.num_ended[name] for name in ledger.num_added}
        assert num_live == {name: int(name in self.world.live_ids) for name in ledger.num_added}

    @invariant()
    def all_blocks_are_free_when_all_have_ended(self) -> None:
        if not self.scheduler.has_unfinished:
            assert self.scheduler.block_manager.num_free == self.world.universe.num_blocks


@pytest.mark.parametrize("policies", POLICIES.values(), ids=POLICIES)
def test_scheduler_machine(policies: SearchStrategy[Policy]) -> None:
    """`World` also holds every request to its tokens, and every failure to a reason."""
    machine = partial(SchedulerMachine, policies)
    run_state_machine_as_test(machine, settings=settings())  # type: ignore[arg-type]  # any maker of machines will do
