"""Single changes to the scheduling rules, planted in the engine; the recorded cases must notice each."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from engine import BlockManager, NanoVllmPolicy, Sequence, View, VllmPolicy
from engine.waiting_queue import ArrivalQueue

Plant = Callable[[pytest.MonkeyPatch], None]


def _rules(policy: type[VllmPolicy] | type[NanoVllmPolicy], **changes: Any) -> Plant:
    published = policy.rules.fget  # type: ignore[union-attr]  # mypy sees the property's value
    return lambda patch: patch.setattr(policy, "rules", property(lambda self: replace(published(self), **changes)))


def _free_head_first(patch: pytest.MonkeyPatch) -> None:
    release = BlockManager.release

    def changed(self: BlockManager, seq: Sequence) -> None:
        seq.block_table.reverse()
        release(self, seq)

    patch.setattr(BlockManager, "release", changed)


def _count_free_hits_as_had(patch: pytest.MonkeyPatch) -> None:
    def changed(self: BlockManager, hits: list[int], num_tokens: int, num_reserved: int = 0) -> bool:
        return self.blocks_for(num_tokens) - len(hits) + num_reserved <= self.num_free

    patch.setattr(BlockManager, "has_room", changed)


def _never_hit_the_last_whole_block(patch: pytest.MonkeyPatch) -> None:
    find_hits = BlockManager.find_hits

    def changed(self: BlockManager, seq: Sequence) -> list[int]:
        return find_hits(self, seq)[: max(0, (seq.num_tokens - 1) // self.block_size - 1)]

    patch.setattr(BlockManager, "find_hits", changed)


def _lose_the_budget_of_the_preempted(patch: pytest.MonkeyPatch) -> None:
    preempt = View.preempt

    def changed(self: View, seq: Sequence) -> None:
        budget = self.budget
        preempt(self, seq)
        self.budget = budget

    patch.setattr(View, "preempt", changed)


def _bound_running_in_nano(patch: pytest.MonkeyPatch) -> None:
    prefill = NanoVllmPolicy._prefill

    def changed(self: NanoVllmPolicy, view: View) -> None:
        if len(view.running) < view.limits.max_num_seqs:
            prefill(self, view)

    patch.setattr(NanoVllmPolicy, "_prefill", changed)


def _hold_the_threshold_for_a_lone_request(patch: pytest.MonkeyPatch) -> None:
    def changed(self: VllmPolicy, view: View) -> int:
        return self.long_prefill_token_threshold or view.limits.max_model_len

    patch.setattr(VllmPolicy, "_threshold", changed)


def _victim(order: str, choose: Callable[[View], Sequence]) -> Plant:
    victim = VllmPolicy._victim

    def changed(self: VllmPolicy, view: View) -> Sequence:
        return choose(view) if self.scheduling_policy == order else victim(self, view)

    return lambda patch: patch.setattr(VllmPolicy, "_victim", changed)


def _watermark(count: Callable[[VllmPolicy, View], int]) -> Plant:
    return lambda patch: patch.setattr(VllmPolicy, "_watermark_blocks", count)


CHANGES: dict[str, Plant] = {
    "vllm: keys known only after the step": _rules(VllmPolicy, register_when="computed"),
    "vllm: the newest duplicate replaces the others": _rules(VllmPolicy, keep_duplicates=False),
    "vllm: blocks reused first in, first out": _rules(VllmPolicy, reuse_unkeyed_first=False),
    "nano: keys known when scheduled": _rules(NanoVllmPolicy, register_when="scheduled"),
    "nano: all duplicates kept": _rules(NanoVllmPolicy, keep_duplicates=True),
    "nano: blocks without a key reused first": _rules(NanoVllmPolicy, reuse_unkeyed_first=True),
    "nano: max_num_seqs bounds the running set": _bound_running_in_nano,
    "freed blocks: head of the sequence first": _free_head_first,
    "memory test: free hits count as had": _count_free_hits_as_had,
    "hits: one block less at the end": _never_hit_the_last_whole_block,
    "preempted: to the tail of waiting": lambda patch: patch.setattr(ArrivalQueue, "put_back", ArrivalQueue.add),
    "preempted: its budget is lost": _lose_the_budget_of_the_preempted,
    "admission also after a preemption": lambda patch: patch.setattr(View, "has_preempted", False),
    "fcfs victim: the first of running": _victim("fcfs", lambda view: view.running[0]),
    "priority victim: the last of running": _victim("priority", lambda view: view.running[-1]),
    "priority victim: of the least urgent the earliest": _victim(
        "priority", lambda view: max(view.running, key=lambda seq: (seq.priority, -seq.number))
    ),
    "watermark: also when nobody runs": _watermark(lambda self, view: int(self.watermark * (view.num_blocks + 1))),
    "watermark: a share of the usable blocks": _watermark(
        lambda self, view: int(self.watermark * view.num_blocks) if len(view.running) else 0
    ),
    "watermark: none": _watermark(lambda self, view: 0),
    "threshold: for a lone request too": _hold_the_threshold_for_a_lone_request,
}
