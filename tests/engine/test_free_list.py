from collections.abc import Callable

import pytest

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
