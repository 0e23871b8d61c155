"""The checking backend checks: faults planted in batches, blocks and queues make it fail."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from engine import (
    Batch,
    BlockManager,
    Limits,
    Request,
    SamplingParams,
    Scheduler,
    Sequence,
    TokenPrompt,
    View,
    VllmPolicy,
)
from tests.kv_checking_backend import KvCheckingBackend, uninterrupted

NUM_BLOCKS = 12
LIMITS = Limits(block_size=4, max_num_batched_tokens=64, max_num_seqs=4, max_model_len=64)
COMMON = range(100, 112)  # three blocks
REQUESTS = {
    "a": Request("a", TokenPrompt([*COMMON, 1]), SamplingParams(max_tokens=6)),
    "b": Request("b", TokenPrompt([*COMMON, 2, 2, 2, 2, 2, 2]), SamplingParams(max_tokens=5)),
    "c": Request("c", TokenPrompt([3, 3, 3]), SamplingParams(max_tokens=9)),
}

Wrap = Callable[[Batch], Batch]


def serve(wrap: Wrap = lambda batch: batch) -> dict[str, tuple[int, ...]]:
    """Serve a alone, then b (which hits a's three blocks) beside c; `wrap` alters each batch on its way."""
    scheduler, backend = Scheduler(LIMITS, NUM_BLOCKS, VllmPolicy()), KvCheckingBackend(NUM_BLOCKS, LIMITS.block_size)
    outputs: dict[str, tuple[int, ...]] = {}
    for names in ("a", "bc"):
        for name in names:
            scheduler.add(REQUESTS[name])
        while scheduler.has_unfinished:
            batch = scheduler.schedule()
            ended = scheduler.update(batch, backend.execute(wrap(batch)))
            outputs |= {each.request_id: each.output_ids for each in ended}
    return outputs


def change_admission_of_b(**changes: Any) -> Wrap:
    """Alters the batch in which b hits; a value is a function of the old one."""

    def wrap(batch: Batch) -> Batch:
        admitted = [
            each._replace(**{name: change(getattr(each, name)) for name, change in changes.items()})
            if each.request_id == "b"
            else each
            for each in batch.admitted
        ]
        return replace(batch, admitted=tuple(admitted))

    return wrap


def test_without_a_fault_the_tokens_are_those_of_uninterrupted_requests() -> None:
    right = {name: tuple(uninterrupted(each.prompt, each.params.max_tokens)) for name, each in REQUESTS.items()}

    assert serve() == right


def test_wrong_block_two_hits_swapped() -> None:
    def swap(table: tuple[int, ...]) -> tuple[int, ...]:
        return (table[1], table[0], *table[2:])

    with pytest.raises(AssertionError, match=r"reads Entry.* where Entry.* should be"):
        serve(change_admission_of_b(block_table=swap))


def test_wrong_block_a_hit_replaced_by_a_block_never_written() -> None:
    with pytest.raises(AssertionError, match="reads position 8 in block 11, which nobody has written"):
        serve(change_admission_of_b(block_table=lambda table: (*table[:2], NUM_BLOCKS - 1, *table[3:])))


def test_wrong_block_a_growing_sequence_is_told_another_ones_block() -> None:
    def wrap(batch: Batch) -> Batch:
        return replace(batch, new_blocks=tuple((name, (0,) * len(ids)) for name, ids in batch.new_blocks))

    with pytest.raises(AssertionError, match=r"block 0 is handed to . while"):
        serve(wrap)


def test_wrong_block_handed_out_and_still_free(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BlockManager, "_take", lambda self, count: list(self._free)[:count])

    with pytest.raises(AssertionError, match=r"is handed to . while"):
        serve()


def test_ghost_hit_the_keys_of_a_failed_row_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same for a preempted row: the ghost cases in `tests/golden`."""
    scheduler, backend = Scheduler(LIMITS, NUM_BLOCKS, VllmPolicy()), KvCheckingBackend(NUM_BLOCKS, LIMITS.block_size)
    scheduler.add(REQUESTS["a"])
    batch = scheduler.schedule()
    monkeypatch.setattr(BlockManager, "unregister", lambda *_: None)  # the fault: nobody forgets the keys
    scheduler.update(batch, backend.execute(batch, failing=["a"]))
    scheduler.add(REQUESTS["b"])

    with pytest.raises(AssertionError, match="reads position 0 in block 0, which nobody has written"):
        backend.execute(scheduler.schedule())


@pytest.mark.parametrize("surplus", [1, 4], ids=["one-token", "one-block"])
def test_off_by_one_hit(surplus: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches agree with themselves: only reading shows that a position was skipped."""
    allocate, compute = BlockManager.allocate, View.compute

    def allocate_and_count_too_much(self: BlockManager, seq: Sequence, hits: list[int], num_tokens: int) -> None:
        allocate(self, seq, hits, num_tokens)
        seq.num_computed_tokens += surplus if hits else 0

    def compute_what_remains(self: View, seq: Sequence, num_tokens: int) -> bool:
        return compute(self, seq, min(num_tokens, seq.num_remaining))

    monkeypatch.setattr(BlockManager, "allocate", allocate_and_count_too_much)
    monkeypatch.setattr(View, "compute", compute_what_remains)

    with pytest.raises(AssertionError, match=r"reads (position 12 in|.* where Entry\(position=12,)"):
        serve()


def test_a_write_into_a_shared_block() -> None:
    """b computes its last hit token again, into the block that it shares with whoever may hit it next."""

    def wrap(batch: Batch) -> Batch:
        first, count = list(batch.first_positions), list(batch.num_tokens)
        for row, name in enumerate(batch.request_ids):
            if name == "b" and batch.admitted:
                first[row], count[row] = first[row] - 1, count[row] + 1
        return replace(batch, first_positions=tuple(first), num_tokens=tuple(count))

    with pytest.raises(AssertionError, match="does not go on at position 12"):
        serve(wrap)


def test_rows_that_hit_what_a_failing_row_should_compute_are_lost_with_it() -> None:
    scheduler, backend = Scheduler(LIMITS, NUM_BLOCKS, VllmPolicy()), KvCheckingBackend(NUM_BLOCKS, LIMITS.block_size)
    for request in REQUESTS.values():
        scheduler.add(request)
    batch = scheduler.schedule()
    result = backend.execute(batch, failing=["a"])

    assert dict(zip(batch.request_ids, batch.first_positions, strict=True)) == {"a": 0, "b": 12, "c": 0}
    assert backend.lost == {"a", "b"}
    assert set(result.failed) == {"a"}
