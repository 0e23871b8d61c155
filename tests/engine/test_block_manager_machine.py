"""BlockManager against a slow, obvious model, under the rules of both policies: equal after every rule."""

from dataclasses import replace
from functools import partial

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

from engine import (
    BlockManager,
    NanoVllmPolicy,
    Prompt,
    Request,
    Rules,
    SamplingParams,
    Sequence,
    TokenPrompt,
    VllmPolicy,
)
from tests.kv_checking_backend import prompt_tokens
from tests.machines import block_views
from tests.machines.block_manager_model import BlockManagerModel, Prefix
from tests.machines.universe import BLOCK_SIZE, prompts

MAX_SEQS = 5
RULES = {
    "nano": NanoVllmPolicy().rules,
    "nano-unkeyed-first": replace(NanoVllmPolicy().rules, reuse_unkeyed_first=True),
    "vllm": VllmPolicy().rules,
    "vllm-in-order": replace(VllmPolicy().rules, reuse_unkeyed_first=False),
    "vllm-no-cache": VllmPolicy(prefix_caching=False).rules,
}


class BlockManagerMachine(RuleBasedStateMachine):
    """Sequences come, compute, generate, lose their blocks and come back; the model is told the same."""

    def __init__(self, rules: Rules) -> None:
        super().__init__()
        self.block_rules = rules
        self.seqs: dict[str, Sequence] = {}
        self.num_arrived = 0
        self.newest: dict[str, list[int]] = {}
        """Blocks that each sequence has made findable in this step."""

    @initialize(
        num_blocks=st.integers(1, 12) | st.integers(5, 12),
        first_prompts=st.lists(prompts, min_size=3, max_size=MAX_SEQS),
    )
    def start(self, num_blocks: int, first_prompts: list[Prompt]) -> None:
        self.manager = BlockManager(num_blocks, BLOCK_SIZE, self.block_rules)
        self.model = BlockManagerModel(num_blocks, BLOCK_SIZE, self.block_rules)
        for prompt in first_prompts:
            self.arrive(prompt)

    @precondition(lambda self: len(self.seqs) < MAX_SEQS)
    @rule(prompt=prompts)
    def arrive(self, prompt: Prompt) -> None:
        self.num_arrived += 1
        name = f"s{self.num_arrived}"
        request = Request(name, prompt, SamplingParams())
        self.seqs[name] = Sequence(request, self.num_arrived, 999, frozenset(), BLOCK_SIZE)

    @precondition(lambda self: self.seqs and len(self.seqs) < MAX_SEQS)
    @rule(num_more=st.integers(0, 6), data=st.data())
    def follow_up(self, num_more: int, data: st.DataObject) -> None:
        """The prompt is what another sequence has come to, and what that one may generate next."""
        seq = data.draw(st.sampled_from(list(self.seqs.values())))
        if seq.request.prompt.token_ids is not None:
            self.arrive(TokenPrompt([*seq.request.prompt.token_ids, *seq.output_ids, *[1] * num_more]))

    @precondition(lambda self: self.with_blocks(False))
    @rule(num_reserved=st.sampled_from([0, 0, 1, 2]), output=st.integers(1, 2), data=st.data())
    def admit(self, num_reserved: int, output: int, data: st.DataObject) -> None:
        seq = data.draw(st.sampled_from(self.with_blocks(False)))
        hits = self.manager.find_hits(seq)
        num_tokens = data.draw(st.just(seq.num_tokens) | st.integers(len(hits) * BLOCK_SIZE + 1, seq.num_tokens))
        has_room = self.manager.has_room(hits, num_tokens, num_reserved)
        assert has_room == self.model.has_room(hits, num_tokens, num_reserved)
        if has_room:
            self.manager.allocate(seq, hits, num_tokens)
            self.model.allocate(seq.request_id, hits, num_tokens)
            assert seq.num_computed_tokens == len(hits) * BLOCK_SIZE
            self.compute_up_to(seq, num_tokens, output)

    @precondition(lambda self: self.with_blocks(True))
    @rule(output=st.integers(1, 2), data=st.data())
    def compute(self, output: int, data: st.DataObject) -> None:
        seq = data.draw(st.sampled_from(self.with_blocks(True)))
        stop = data.draw(st.just(seq.num_tokens) | st.integers(seq.num_computed_tokens + 1, seq.num_tokens))
        had = list(seq.block_table)
        new = self.manager.extend(seq, stop)
        assert (new is not None) == self.model.extend(seq.request_id, stop)
        if new is not None:
            assert seq.block_table == had + new
            self.compute_up_to(seq, stop, output)

    @precondition(lambda self: self.with_blocks(True))
    @rule(outputs=st.lists(st.integers(1, 2), min_size=MAX_SEQS, max_size=MAX_SEQS))
    def decode_all(self, outputs: list[int]) -> None:
        """Only sequences that have outgrown their quiet time are shown to the manager, all of them to the model."""
        seqs = [seq for seq in self.seqs.values() if seq.block_table and seq.num_remaining == 1]
        due = [seq for seq in seqs if seq.num_computed_tokens >= seq.quiet_until]
        full = self.manager.full_among(due)
        num_needed = sum(seq.num_tokens > len(seq.block_table) * BLOCK_SIZE for seq in seqs)
        assert len(full) == num_needed
        if num_needed <= len(self.model.free):
            grown = self.manager.extend_decodes(full)
            assert grown == {seq: (seq.block_table[-1],) for seq in full}
            assert all(self.model.extend(seq.request_id, seq.num_tokens) for seq in seqs)
            registered = self.manager.register_decodes(due)
            for seq, output in zip(seqs, outputs, strict=False):
                fresh = self.model.register(seq.request_id, self.tokens(seq))
                assert registered.get(seq, []) == fresh
                self.newest.setdefault(seq.request_id, []).extend(fresh)
                self.advance(seq, seq.num_tokens, output)

    @precondition(lambda self: self.with_blocks(True))
    @rule(num_steps=st.integers(1, 10))
    def decode_on(self, num_steps: int) -> None:
        """Many steps at a stroke; the model takes one after the other."""
        self.newest.clear()
        seqs = [seq for seq in self.seqs.values() if seq.block_table and seq.num_remaining == 1]
        lengths = [(seq.num_computed_tokens + num_steps, len(seq.block_table)) for seq in seqs]
        if sum(max(0, self.manager.blocks_for(stop) - num_had) for stop, num_had in lengths) > len(self.model.free):
            return
        for seq in seqs:
            seq.output_ids += [1] * num_steps
        growth = self.manager.grow_decodes(seqs, num_steps) if seqs else ()
        right = []
        for offset in range(num_steps):
            for row, seq in enumerate(seqs):
                table = self.model.tables[seq.request_id]
                num_had = len(table)
                assert self.model.extend(seq.request_id, seq.num_computed_tokens + offset + 1)
                right += [(offset, row, block_id) for block_id in table[num_had:]]
            for seq in seqs:
                stop = seq.num_computed_tokens + offset + 1
                self.model.register(seq.request_id, self.tokens(seq)[:stop])
        assert list(growth) == right
        for seq in seqs:
            seq.num_computed_tokens += num_steps

    @rule()
    def end_step(self) -> None:
        """What has become findable is computed."""
        self.newest.clear()

    @precondition(lambda self: self.with_blocks(True))
    @rule(doubt=st.sampled_from(["nothing", "nothing", "newest", "all"]), is_last=st.booleans(), data=st.data())
    def release(self, doubt: str, is_last: bool, data: st.DataObject) -> None:
        """A sequence ends, or is preempted before its newest blocks were computed, or fails; others may go on."""
        seq = data.draw(st.sampled_from(self.with_blocks(True)))
        newest = self.newest.pop(seq.request_id, [])
        doubtful = {"nothing": [], "newest": newest, "all": list(seq.block_table)}[doubt]
        self.manager.unregister(doubtful)
        self.model.unregister(doubtful)
        self.manager.release(seq)
        self.model.release(seq.request_id)
        if is_last:
            del self.seqs[seq.request_id]

    @invariant()
    def blocks_are_free_in_the_same_order(self) -> None:
        assert list(self.manager._free) == self.model.free
        assert self.manager.num_free == len(self.model.free)

    @invariant()
    def tables_are_equal(self) -> None:
        held = {name: seq.block_table for name, seq in self.seqs.items() if seq.block_table}
        assert held == self.model.tables

    @invariant()
    def ref_counts_are_equal(self) -> None:
        right = [self.model.num_holders(block_id) for block_id in range(self.manager.num_blocks)]
        assert block_views.num_holders(self.manager) == right
        assert self.manager.shared_tokens == sum(max(0, num - 1) for num in right) * self.manager.block_size

    @invariant()
    def the_same_blocks_carry_keys(self) -> None:
        keys = block_views.key_of_blocks(self.manager)
        assert {block_id for block_id, key in enumerate(keys) if key is not None} == self.model.keyed.keys()

    @invariant()
    def the_same_blocks_are_found_under_one_key(self) -> None:
        groups: dict[Prefix, list[int]] = {}
        for prefix, block in self.model.findable:
            groups.setdefault(prefix, []).append(block)
        assert sorted(blocks for _, blocks in block_views.findable(self.manager)) == sorted(groups.values())

    @invariant()
    def every_sequence_hits_the_same(self) -> None:
        for seq in self.seqs.values():
            assert self.manager.find_hits(seq) == self.model.find_hits(self.tokens(seq))

    def compute_up_to(self, seq: Sequence, stop: int, output: int) -> None:
        fresh = self.manager.register(seq, stop)
        assert fresh == self.model.register(seq.request_id, self.tokens(seq)[:stop])
        self.newest.setdefault(seq.request_id, []).extend(fresh)
        self.advance(seq, stop, output)

    def with_blocks(self, has_blocks: bool) -> list[Sequence]:
        return [seq for seq in self.seqs.values() if bool(seq.block_table) == has_blocks]

    def tokens(self, seq: Sequence) -> Prefix:
        return (*prompt_tokens(seq.request.prompt), *seq.output_ids)

    def advance(self, seq: Sequence, stop: int, output: int) -> None:
        """What the scheduler does after a step."""
        seq.num_computed_tokens = stop
        if seq.num_remaining == 0:
            seq.output_ids.append(output)


@pytest.mark.parametrize("rules", RULES.values(), ids=RULES)
def test_block_manager_machine(rules: Rules) -> None:
    machine = partial(BlockManagerMachine, rules)
    run_state_machine_as_test(machine, settings=settings())  # type: ignore[arg-type]  # any maker of machines will do
