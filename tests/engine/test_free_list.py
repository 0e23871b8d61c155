from collections.abc import Callable
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.block_run import BlockRun
from engine.free_list import FreeList


def _take_first(free: FreeList) -> BlockRun:
    run = free.first()
    free.remove(run)
    return run


def test_starts_with_all_blocks_in_order() -> None:
    free = FreeList(4)

    assert (list(free), len(free)) == ([0, 1, 2, 3], 4)


def test_last_block_of_the_first_run_goes_first() -> None:
    free = FreeList(5)
    _take_first(free)
    free.put_last(BlockRun([7, 3, 9]))
    free.put_last(BlockRun([4, 5]))

    assert list(free) == [9, 3, 7, 5, 4]
    assert free.first().block_ids == [7, 3, 9]


def test_runs_are_put_at_the_head_and_taken_out_of_the_middle() -> None:
    free = FreeList(3)
    _take_first(free)
    runs = [BlockRun([number]) for number in range(3)]
    for run in runs:
        free.put_first(run)
    assert list(free) == [2, 1, 0]

    free.remove(runs[1])

    assert (list(free), len(free)) == ([2, 0], 2)


def test_run_is_shortened_from_its_end() -> None:
    free = FreeList(5)

    assert free.shorten(free.first(), 2) == [0, 1]
    assert (list(free), len(free)) == ([2, 3, 4], 3)


def test_head_that_was_cut_off_goes_behind_the_rest() -> None:
    free = FreeList(5)
    _take_first(free)
    run = BlockRun([1, 2, 3], [7, 8, 9])
    free.put_last(BlockRun([0]))
    free.put_last(run)

    free.put_last(BlockRun([4]))

    head = run.cut(1)
    free.put_head(head, run)

    assert (list(free), len(free)) == ([0, 3, 2, 1, 4], 5)
    free.remove(run)
    assert list(free) == [0, 1, 4]


def test_empty_run_is_in_no_list() -> None:
    free = FreeList(1)
    _take_first(free)

    free.put_first(BlockRun([]))

    assert len(free) == 0
    with pytest.raises(AssertionError, match="no block is free"):
        free.first()


@pytest.mark.parametrize("put", [FreeList.put_first, FreeList.put_last])
def test_run_cannot_be_free_twice(put: Callable[[FreeList, BlockRun], None]) -> None:  # vllm-ascend#15990
    free = FreeList(3)
    run = _take_first(free)
    free.put_last(run)

    with pytest.raises(AssertionError, match=r"one of the blocks \[2, 1, 0\] is free already"):
        put(free, run)
    assert list(free) == [0, 1, 2]


def test_no_more_blocks_are_free_than_there_are() -> None:
    free = FreeList(2)

    with pytest.raises(AssertionError, match=r"one of the blocks \[1\] is free already"):
        free.put_last(BlockRun([1]))


def test_held_run_cannot_be_removed() -> None:
    with pytest.raises(AssertionError, match=r"\[1\] are not free"):
        FreeList(2).remove(BlockRun([1]))


@given(st.lists(st.tuples(st.sampled_from(["shorten", "first", "last", "remove"]), st.integers(0, 5)), max_size=60))
def test_order_is_that_of_a_plain_list(operations: list[tuple[str, int]]) -> None:
    free, held = FreeList(6), list[BlockRun]()
    model = [[5, 4, 3, 2, 1, 0]]
    free_runs = [free.first()]
    for name, number in operations:
        run = free_runs[number % len(free_runs)] if free_runs else None
        if name == "shorten" and run and len(run) > 1:
            count = min(number % len(run) + 1, len(run) - 1)
            taken = free.shorten(run, count)
            index = free_runs.index(run)
            assert taken == model[index][::-1][:count]
            model[index] = model[index][:-count]
            held.append(BlockRun(taken))
        elif name == "remove" and run:
            free.remove(run)
            del model[free_runs.index(run)]
            free_runs.remove(run)
            held.append(run)
        elif name in ("first", "last") and held:
            put, place = held.pop(), 0 if name == "first" else len(model)
            (free.put_first if name == "first" else free.put_last)(put)
            model.insert(place, list(put.block_ids))
            free_runs.insert(place, put)
        order = [block_id for blocks in model for block_id in reversed(blocks)]
        assert (list(free), len(free)) == (order, len(order))


def _take(free: FreeList, count: int) -> list[int]:
    """The next blocks, as whole runs and the end of one."""
    taken: list[int] = []
    while len(taken) < count:
        run = free.first()
        if len(run) <= count - len(taken):
            free.remove(run)
            taken += reversed(run.block_ids)
        else:
            taken += free.shorten(run, count - len(taken))
    return taken


@given(st.integers(1, 12), st.lists(st.tuples(st.sampled_from(["take", "first", "last"]), st.integers(1, 6))))
def test_blocks_come_in_order_however_few_are_listed(num_blocks: int, operations: list[tuple[str, int]]) -> None:
    with patch("engine.free_list._FRESH_AT_ONCE", 3):
        free, model, held = FreeList(num_blocks), list(range(num_blocks)), list[list[int]]()
        for name, count in operations:
            if name == "take" and count <= len(model):
                held.append(_take(free, count))
                assert held[-1] == model[:count]
                del model[:count]
            elif name != "take" and held:
                block_ids = held.pop(count % len(held))
                (free.put_first if name == "first" else free.put_last)(BlockRun(block_ids))
                model = [*reversed(block_ids), *model] if name == "first" else [*model, *reversed(block_ids)]
            assert (list(free), len(free)) == (model, len(model))


def test_a_pool_costs_what_is_used_of_it() -> None:
    free = FreeList(2**31 - 1)

    assert len(free) == 2**31 - 1
    assert _take(free, 200_000) == list(range(200_000))
    assert len(free.first()) < 100_000
