import pytest

from engine.free_list import FreeList


def test_blocks_are_taken_from_the_head() -> None:
    free = FreeList(3)

    assert [free.take(), free.take()] == [0, 1]
    assert list(free) == [2]
    assert len(free) == 1


def test_blocks_are_put_at_either_end() -> None:
    free = FreeList(3)
    first, second = free.take(), free.take()

    free.put_last(first)
    free.put_first(second)

    assert list(free) == [1, 2, 0]


def test_block_is_removed_from_the_middle() -> None:
    free = FreeList(4)

    free.remove(2)

    assert list(free) == [0, 1, 3]
    assert (2 in free, 3 in free) == (False, True)
    assert [free.take() for _ in range(3)] == [0, 1, 3]


@pytest.mark.parametrize("put", [FreeList.put_first, FreeList.put_last])
def test_block_cannot_be_free_twice(put: object) -> None:  # vllm-ascend#15990
    free = FreeList(3)
    assert callable(put)

    with pytest.raises(AssertionError, match="block 1 is free twice"):
        put(free, 1)
    assert list(free) == [0, 1, 2]


def test_held_block_cannot_be_removed() -> None:
    free = FreeList(2)
    free.take()

    with pytest.raises(KeyError):
        free.remove(0)


def test_taking_from_an_empty_list_is_an_error() -> None:
    with pytest.raises(KeyError):
        FreeList(0).take()
