"""BlockManager against a slow, obvious model, under the rules of both policies: equal after every rule."""

from functools import partial

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from engine import BlockManager, NanoVllmPolicy, Prompt, Request, Rules, SamplingParams, Sequence, VllmPolicy
from tests.kv_checking_backend import prompt_tokens
from tests.machines.block_manager_model import BlockManagerModel, Prefix
from tests.machines.universe import BLOCK_SIZE, prompts

names = st.sampled_from("abcd")
RULES = {
    "nano": NanoVllmPolicy().rules,
    "vllm": VllmPolicy().rules,
    "vllm-no-cache": VllmPolicy(prefix_caching=False).rules,
}


class BlockManagerMachine(RuleBasedStateMachine):
    """Sequences come, compute, generate, lose their blocks and come back; the model is told the same."""

    def __init__(self, rules: Rules) -> None:
        super().__init__()
        self.block_rules = rules
        self.seqs: dict[str, Sequence] = {}
        self.newest: dict[str, list[int]] = {}

    @initialize(num_blocks=st.integers(1, 12))
    def start(self, num_blocks: int) -> None:
        self.manager = BlockManager(num_blocks, BLOCK_SIZE, self.block_rules)
        self.model = BlockManagerModel(num_blocks, BLOCK_SIZE, self.block_rules)

    @rule(name=names, prompt=prompts)
    def arrive(self, name: str, prompt: Prompt) -> None:
        if name not in self.seqs:
            self.seqs[name] = Sequence(Request(name, prompt, SamplingParams()), len(self.seqs), 999, frozenset())

    @rule(name=names, num_reserved=st.integers(0, 2), data=st.data())
    def admit(self, name: str, num_reserved: int, data: st.DataObject) -> None:
        seq = self.seqs.get(name)
        if seq is None or seq.block_table:
            return
        hits = self.manager.find_hits(seq)
        num_tokens = data.draw(st.integers(len(hits) * BLOCK_SIZE + 1, seq.num_tokens))
        has_room = self.manager.has_room(hits, num_tokens, num_reserved)
        assert has_room == self.model.has_room(hits, num_tokens, num_reserved)
        if has_room:
            self.manager.allocate(seq, hits, num_tokens)
            self.model.allocate(name, hits, num_tokens)
            assert seq.num_computed_tokens == len(hits) * BLOCK_SIZE

    @rule(name=names, output=st.integers(1, 2), data=st.data())
    def compute(self, name: str, output: int, data: st.DataObject) -> None:
        seq = self.seqs.get(name)
        if seq is None or not seq.block_table:
            return
        stop = seq.num_computed_tokens + data.draw(st.integers(1, seq.num_remaining))
        had = list(seq.block_table)
        new = self.manager.extend(seq, stop)
        assert (new is not None) == self.model.extend(name, stop)
        if new is not None:
            assert seq.block_table == had + new
            self.newest[name] = self.manager.register(seq, stop)
            assert self.newest[name] == self.model.register(name, self.tokens(seq)[:stop])
            self.advance(seq, stop, output)

    @rule(outputs=st.lists(st.integers(1, 2), min_size=4, max_size=4))
    def decode_all(self, outputs: list[int]) -> None:
        """Only sequences that have outgrown their quiet time are shown to the manager, all of them to the model."""
        seqs = [seq for seq in self.seqs.values() if seq.block_table and seq.num_remaining == 1]
        due = [seq for seq in seqs if seq.num_computed_tokens >= seq.quiet_until]
        grown = self.manager.extend_decodes(due)
        num_needed = sum(seq.num_tokens > len(seq.block_table) * BLOCK_SIZE for seq in seqs)
        assert (grown is not None) == (num_needed <= len(self.model.free))
        if grown is not None:
            assert all(self.model.extend(seq.request_id, seq.num_tokens) for seq in seqs)
            registered = self.manager.register_decodes(due)
            for seq, output in zip(seqs, outputs, strict=False):
                self.newest[seq.request_id] = self.model.register(seq.request_id, self.tokens(seq))
                assert registered.get(seq, []) == self.newest[seq.request_id]
                self.advance(seq, seq.num_tokens, output)

    @rule(name=names)
    def release(self, name: str) -> None:
        if name in self.model.tables:
            self.manager.release(self.seqs[name])
            self.model.release(name)
            self.newest.pop(name, None)

    @rule(name=names)
    def release_what_was_not_computed(self, name: str) -> None:
        if name in self.model.tables:
            self.manager.unregister(self.newest.get(name, []))
            self.model.unregister(self.newest.get(name, []))
            self.release(name)

    @rule(name=names)
    def leave(self, name: str) -> None:
        self.release(name)
        self.seqs.pop(name, None)

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
        assert self.manager._num_holders == [self.model.num_holders(i) for i in range(self.manager.num_blocks)]

    @invariant()
    def the_same_blocks_carry_keys(self) -> None:
        assert {i for i, key in enumerate(self.manager._key) if key is not None} == self.model.keyed

    @invariant()
    def the_same_blocks_are_found_under_one_key(self) -> None:
        groups: dict[Prefix, list[int]] = {}
        for prefix, block in self.model.findable:
            groups.setdefault(prefix, []).append(block)
        assert sorted(blocks for _, blocks in self.manager._index.items()) == sorted(groups.values())

    @invariant()
    def every_sequence_hits_the_same(self) -> None:
        for seq in self.seqs.values():
            assert self.manager.find_hits(seq) == self.model.find_hits(self.tokens(seq))

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
