"""Blocks are conserved, counted and checked before anything is taken."""

import pytest

from engine import BlockManager, NanoVllmPolicy, Policy, Rules, Sequence, VllmPolicy
from tests.engine.driver import Driver, limits, request

BOTH = pytest.mark.parametrize("policy", [VllmPolicy(), NanoVllmPolicy()], ids=["vllm", "nano_vllm"])


def _sequence(*token_ids: int) -> Sequence:
    return Sequence(request("s", token_ids), 0, len(token_ids) + 1, frozenset(), 4)


def _manager(num_blocks: int, **rules: bool) -> BlockManager:
    return BlockManager(num_blocks, 4, Rules(**rules))  # type: ignore[arg-type]  # only switches are given here


def _computed(manager: BlockManager, *token_ids: int) -> Sequence:
    """A sequence that has computed all its tokens, the full blocks registered."""
    seq = _sequence(*token_ids)
    manager.allocate(seq, manager.find_hits(seq), len(token_ids))
    manager.register(seq, len(token_ids))
    seq.num_computed_tokens = len(token_ids)
    return seq


def test_blocks_for_rounds_up() -> None:
    manager = _manager(5)

    assert [manager.blocks_for(n) for n in (0, 1, 4, 5, 8, 9)] == [0, 1, 1, 2, 2, 3]


def test_hits_that_lie_in_the_free_list_count_as_needed() -> None:  # vllm PR 11310
    manager = _manager(5)
    manager.release(_computed(manager, *range(8)))
    seq = _sequence(*range(24))
    hits = manager.find_hits(seq)

    assert (manager.num_free, hits) == (5, [0, 1])
    assert manager.has_room(hits, 20)  # 3 new and 2 hits
    assert not manager.has_room(hits, 24)  # 4 new and 2 hits of 5


def test_hits_that_somebody_holds_do_not_count_as_needed() -> None:  # vllm PR 11310
    manager = _manager(6)
    holder = _computed(manager, *range(8))
    seq = _sequence(*range(24))
    hits = manager.find_hits(seq)

    assert (manager.num_free, hits) == (4, [0, 1])
    assert manager.has_room(hits, 24)
    assert not manager.has_room(hits, 24, num_reserved=1)
    manager.allocate(seq, hits, 24)
    assert manager.num_free == 0
    manager.release(holder)
    assert manager.num_free == 0
    manager.release(seq)
    assert manager.num_free == 6


def test_reserved_blocks_must_stay_free() -> None:
    manager = _manager(5)

    assert manager.has_room([], 12, num_reserved=2)
    assert not manager.has_room([], 12, num_reserved=3)
    assert not manager.has_room([], 24)


def test_failed_try_takes_nothing() -> None:  # vllm#11562
    manager = _manager(5)
    holder = _computed(manager, 50, 51, 52, 53, 54)
    manager.release(_computed(manager, *range(8)))
    seq = _sequence(*range(16))

    hits = manager.find_hits(seq)

    assert (manager.num_free, hits) == (3, [2, 3])
    assert not manager.has_room(hits, 16)
    assert manager.num_free == 3
    assert manager.find_hits(seq) == [2, 3]
    manager.release(holder)
    assert manager.has_room(hits, 16)
    manager.allocate(seq, hits, 16)
    assert seq.block_table[:2] == [2, 3]
    manager.release(seq)
    assert manager.num_free == 5


def test_waiting_request_that_does_not_fit_leaves_no_trace() -> None:  # vllm#11562
    driver = Driver(VllmPolicy(), limits(), num_blocks=5)
    driver.add(request("cached", range(8)), request("holder", range(50, 58), max_tokens=4))
    driver.step()
    driver.add(request("waiting", range(16)))

    free = [step.free for step in driver.finish()]

    assert free == [2, 2, 2, 1]
    assert driver.num_free == 5


def test_hits_are_looked_up_anew_at_each_try() -> None:  # vllm PR 18957
    driver = Driver(VllmPolicy(), limits(), num_blocks=6)
    driver.add(request("cached", range(8)), request("holder", range(50, 58), max_tokens=13))
    driver.step()
    driver.add(request("waiting", [*range(8), *range(70, 78)]))  # 2 hits, 2 new: 4 of the 3 free
    assert driver.step().admitted == []

    steps = driver.finish()

    # The holder grows into the very blocks that were hits at first: 3 more blocks, 2 of which were cached.
    assert driver.table("holder") == [2, 3, 4, 5, 1]
    assert [step.admitted for step in steps if step.admitted] == [[("waiting", 4)]]
    assert steps[-1].rows == [("waiting", 12)]


def test_extend_gives_new_blocks_only_when_the_table_is_full() -> None:
    manager = _manager(3)
    seq = _computed(manager, *range(6))

    assert manager.extend(seq, 8) == []
    assert manager.extend(seq, 9) == [2]
    assert manager.extend(seq, 13) is None
    assert seq.block_table == [0, 1, 2]
    assert manager.num_free == 0


def test_block_freed_more_often_than_taken_is_caught() -> None:  # vllm#42571
    manager = _manager(4)
    seq = _computed(manager, *range(5))
    twice = list(seq.block_table)
    manager.release(seq)
    manager.release(seq)  # an empty table: nothing happens
    assert manager.num_free == 4

    seq.block_table = twice
    with pytest.raises(AssertionError, match="is free already"):
        manager.release(seq)


def test_sequence_that_holds_blocks_cannot_be_given_a_second_table() -> None:
    manager = _manager(4)
    seq = _computed(manager, *range(5))

    with pytest.raises(AssertionError, match="has blocks already"):
        manager.allocate(seq, [], 5)


def test_unregistered_block_is_not_hit_and_is_reused_first() -> None:
    manager = _manager(4)
    seq = _computed(manager, *range(6))
    seq.output_ids += [6, 7]
    assert manager.register(seq, 8) == [1]
    manager.unregister([1])
    assert manager.find_hits(_sequence(*range(9))) == [0]

    manager.release(seq)
    other = _computed(manager, 60, 61)

    assert other.block_table == [1]


def test_content_is_found_beyond_the_end_of_a_run_and_up_to_the_middle_of_another() -> None:
    manager = _manager(20)
    first = _computed(manager, *range(12))  # blocks 0, 1, 2
    branch = _computed(manager, *range(8), *range(50, 62))  # hits 0, 1 and computes 3, 4, 5

    assert branch.block_table == [0, 1, 3, 4, 5]
    assert manager.find_hits(_sequence(*range(8), *range(50, 58), 9, 9)) == [0, 1, 3, 4]
    manager.release(first)
    manager.release(branch)
    assert list(manager._free) == [*range(6, 20), 2, 5, 4, 3, 1, 0]


def test_copy_that_ends_within_a_run_cuts_it_and_outlives_its_head() -> None:
    manager = _manager(5)
    whole = _computed(manager, *range(12))
    copy = _sequence(*range(8))  # has computed its second block anew, since one token must be left to compute
    manager.allocate(copy, manager.find_hits(copy), 8)
    manager.register(copy, 8)
    assert (whole.block_table, copy.block_table) == ([0, 1, 2], [0, 3])

    manager.release(whole)  # free: 4, 2, 1; block 0 is shared
    assert _computed(manager, *range(70, 82)).block_table == [4, 2, 1]

    assert manager.find_hits(_sequence(*range(12))) == [0, 3]


def test_hit_in_the_middle_of_the_free_list_leaves_the_rest_of_its_run_there() -> None:
    manager = _manager(6)
    for first in (0, 100):
        manager.release(_computed(manager, *range(first, first + 12)))
    assert list(manager._free) == [2, 1, 0, 5, 4, 3]

    seq = _sequence(*range(100, 106))
    manager.allocate(seq, manager.find_hits(seq), 4)

    assert list(manager._free) == [2, 1, 0, 5, 4]


def _decode(manager: BlockManager, seqs: list[Sequence], *token_ids: int) -> None:
    """Compute the newest token and all of these but the last."""
    for seq in seqs:
        seq.output_ids += token_ids
    manager.grow_decodes(seqs, len(token_ids))
    for seq in seqs:
        seq.num_computed_tokens += len(token_ids)


def test_run_grows_while_nobody_else_has_its_content() -> None:
    manager = _manager(8)
    seq = _computed(manager, *range(4))
    seq.output_ids.append(4)

    _decode(manager, [seq], *range(5, 17))

    assert seq.block_table == [0, 1, 2, 3]
    assert manager.find_hits(_sequence(*range(17))) == [0, 1, 2, 3]
    assert len(manager._runs._runs) == 1


def test_run_that_somebody_has_hit_does_not_grow_past_what_follows_it_there() -> None:
    manager = _manager(8)
    first = _computed(manager, *range(4))
    first.output_ids.append(4)
    second = _computed(manager, *range(8))  # hits block 0, and computes block 1 before the other does
    third = _sequence(*range(9))

    _decode(manager, [first], *range(5, 9))

    assert (first.block_table, second.block_table) == ([0, 2], [0, 1])
    assert manager.find_hits(third) == [0, 1]
    manager.release(second)
    assert _computed(manager, *range(70, 94)).block_table == [3, 4, 5, 6, 7, 1]
    assert manager.find_hits(third) == [0, 2]


def test_run_of_which_there_is_a_copy_does_not_grow_past_what_follows_the_copy() -> None:
    manager = _manager(8)
    first, second = _computed(manager, *range(4)), _computed(manager, *range(4))  # at least a token is computed
    for seq in (first, second):
        seq.output_ids.append(4)
    third = _sequence(*range(9))

    _decode(manager, [second], *range(5, 9))
    _decode(manager, [first], *range(5, 9))

    assert (first.block_table, second.block_table) == ([0, 3], [1, 2])
    assert manager.find_hits(third) == [0, 2]
    manager.release(second)
    assert _computed(manager, *range(70, 94)).block_table == [4, 5, 6, 7, 2, 1]
    assert manager.find_hits(third) == [0, 3]


def test_sequence_that_is_ahead_is_the_first_with_content_that_both_generate() -> None:
    manager = _manager(8)
    ahead = _computed(manager, *range(4))
    behind = _computed(manager, *range(3))
    ahead.output_ids.append(4)
    behind.output_ids.append(3)

    for seq, token_ids in ((behind, range(4, 12)), (ahead, range(5, 13))):
        seq.output_ids += token_ids
    manager.grow_decodes([behind, ahead], 8)

    # At the end of the first step the one behind has filled its first block, and the other has none to fill.
    assert manager.find_hits(_sequence(*range(12), 0)) == ahead.block_table[:3]


def test_register_names_only_what_is_new() -> None:
    manager = _manager(6)
    seq = _sequence(*range(16))
    manager.allocate(seq, [], 16)

    assert manager.register(seq, 7) == [0]
    assert manager.register(seq, 7) == []
    assert manager.register(seq, 16) == [1, 2, 3]


def test_without_caching_nothing_is_registered() -> None:
    manager = _manager(6, prefix_caching=False)
    seq = _sequence(*range(16))
    manager.allocate(seq, [], 16)

    assert manager.register(seq, 16) == []
    assert manager.find_hits(_sequence(*range(16))) == []


def test_many_decodes_get_the_blocks_that_single_calls_would_give() -> None:
    together, apart = _manager(8), _manager(8)
    prompts = [(10, 11, 12, 13), (30, 31, 32), (50, 51, 52, 53)]

    seqs = [_computed(together, *prompt) for prompt in prompts]
    grown = together.extend_decodes(together.full_among(seqs))
    singly = [apart.extend(seq, seq.num_computed_tokens + 1) for seq in [_computed(apart, *each) for each in prompts]]

    assert grown == {seqs[0]: (3,), seqs[2]: (4,)}
    assert [seq.block_table for seq in seqs] == [[0, 3], [1], [2, 4]]
    assert singly == [[3], [], [4]]


@pytest.mark.parametrize("block_size", [1, 2, 4])
@pytest.mark.parametrize("num_spare", [0, 1, 6])
def test_decodes_at_a_stroke_are_due_when_single_ones_are(block_size: int, num_spare: int) -> None:
    """Also those whose tables are longer than their tokens need."""
    outcomes: list[list[object]] = []
    for manager in (BlockManager(30, block_size, Rules()), BlockManager(30, block_size, Rules())):
        seq = Sequence(request("s", 5, max_tokens=20), 0, 99, frozenset(), block_size)
        manager.allocate(seq, [], 5 + num_spare)
        manager.register(seq, 5)
        seq.num_computed_tokens = 5
        decode = _decode_at_a_stroke if outcomes else _decode_singly
        outcomes.append([decode(manager, seq) for _ in range(12)])

    assert outcomes[0] == outcomes[1]


def _decode_singly(manager: BlockManager, seq: Sequence) -> object:
    seq.output_ids.append(7)
    new, fresh = manager.extend(seq, seq.num_tokens), manager.register(seq, seq.num_tokens)
    seq.num_computed_tokens += 1
    return new, fresh, list(seq.block_table), seq.num_registered, seq.quiet_until


def _decode_at_a_stroke(manager: BlockManager, seq: Sequence) -> object:
    seq.output_ids.append(7)
    due = [seq] if seq.num_computed_tokens >= seq.quiet_until else []
    new, fresh = manager.extend_decodes(manager.full_among(due)), manager.register_decodes(due)
    seq.num_computed_tokens += 1
    return list(new.get(seq, ())), fresh.get(seq, []), list(seq.block_table), seq.num_registered, seq.quiet_until


@BOTH
def test_all_blocks_are_free_at_idle_when_sequences_end_within_a_block(policy: Policy) -> None:  # sglang#11970
    driver = Driver(policy, limits(block_size=16), num_blocks=12)
    driver.add(*[request(f"{k}", 13 + k, max_tokens=1 + 3 * k) for k in range(9)])

    driver.finish()

    assert driver.num_free == 12


@BOTH
def test_usage_is_zero_when_idle_after_load(policy: Policy) -> None:  # vllm#20302
    driver = Driver(policy, limits(), num_blocks=10)
    driver.add(request("a", 9, max_tokens=3), request("b", 6, max_tokens=3))

    used = [10 - step.free for step in driver.finish()]

    assert used == [5, 5, 5]
    assert driver.num_free == 10
    assert driver.scheduler.num_running == driver.scheduler.num_waiting == 0
