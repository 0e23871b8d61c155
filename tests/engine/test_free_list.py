from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.free_list import FreeList


def test_blocks_are_taken_from_the_head() -> None:
    free = FreeList(4)

    assert free.take(2) == [0, 1]
    assert free.take(0) == []
    assert list(free) == [2, 3]
    assert len(free) == 2


def test_blocks_are_put_at_the_tail_one_behind_the_other() -> None:
    free = FreeList(5)
    free.take(3)

    free.put_last([2, 0])

    assert list(free) == [3, 4, 2, 0]


def test_blocks_are_put_at_the_head_one_before_the_other() -> None:
    free = FreeList(5)
    free.take(3)

    free.put_first([2, 0])

    assert list(free) == [0, 2, 3, 4]


def test_block_is_removed_from_the_middle() -> None:
    free = FreeList(4)

    free.remove(2)

    assert list(free) == [0, 1, 3]
    assert (2 in free, 3 in free) == (False, True)
    assert free.take(3) == [0, 1, 3]


@pytest.mark.parametrize("put", [FreeList.put_first, FreeList.put_last])
def test_block_cannot_be_free_twice(put: Callable[[FreeList, list[int]], None]) -> None:  # vllm-ascend#15990
    free = FreeList(3)
    free.take(1)

    with pytest.raises(AssertionError, match=r"one of the blocks \[0, 1\] is free already"):
        put(free, [0, 1])
    assert list(free) == [1, 2]


def test_held_block_cannot_be_removed() -> None:
    free = FreeList(2)
    free.take(1)

    with pytest.raises(KeyError):
        free.remove(0)


def test_taking_more_than_there_are_is_an_error() -> None:
    with pytest.raises(AssertionError, match="are free"):
        FreeList(1).take(2)


def test_removed_block_is_skipped_where_it_stood_and_found_where_it_was_put() -> None:
    free = FreeList(4)
    free.remove(1)
    free.put_last([1])
    free.remove(1)
    free.put_first([1])

    assert list(free) == [1, 0, 2, 3]
    assert free.take(2) == [1, 0]
    free.put_last([1])
    assert free.take(3) == [2, 3, 1]


def test_entries_of_removed_blocks_do_not_pile_up() -> None:
    free = FreeList(10)

    for _ in range(1000):
        free.remove(5)
        free.put_last([5])

    assert list(free) == [0, 1, 2, 3, 4, 6, 7, 8, 9, 5]
    assert len(free._queue) < 30


@given(st.lists(st.tuples(st.sampled_from(["take", "first", "last", "remove"]), st.integers(0, 5)), max_size=60))
def test_order_is_that_of_a_plain_list(operations: list[tuple[str, int]]) -> None:
    free, model, held = FreeList(6), list(range(6)), list[int]()
    first_put = set[int]()
    for name, number in operations:
        if name == "take":
            count = min(number, len(model))
            assert free.take(count) == model[:count]
            held, model = held + model[:count], model[count:]
        elif name == "remove" and number in model and number not in first_put:
            free.remove(number)
            model.remove(number)
            held.append(number)
        elif name in ("first", "last") and held:
            put, held = held[: number + 1], held[number + 1 :]
            model = [*put[::-1], *model] if name == "first" else [*model, *put]
            (free.put_first if name == "first" else free.put_last)(put)
            first_put = first_put - set(put) | (set(put) if name == "first" else set())
        assert (list(free), len(free), set(free.ids)) == (model, len(model), set(model))
