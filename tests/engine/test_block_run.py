import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.block_run import BlockRun


@given(num_equal=st.integers(1, 9), num_mine=st.integers(1, 9), start=st.integers(0, 3), stop=st.integers(4, 12))
def test_equal_blocks_are_counted(num_equal: int, num_mine: int, start: int, stop: int) -> None:
    keys = list(range(100, 112))
    others = keys[: start + num_equal] + [key + 500 for key in keys[start + num_equal :]]
    run = BlockRun(list(range(num_mine)), keys, start)

    assert run.num_equal(others, stop) == min(num_equal, num_mine, stop - start)
    assert run.num_equal(keys, stop) == min(num_mine, stop - start)


def test_head_has_the_same_holders_and_the_rest_the_keys_that_follow() -> None:
    keys = [10, 11, 12, 13]
    run = BlockRun([5, 6, 7], keys, 1)
    run.num_holders = 2
    run.is_open = True

    head = run.cut(1)

    assert (head.block_ids, head.start, head.key, head.num_holders, len(head)) == ([5], 1, 11, 2, 1)
    assert (run.block_ids, run.start, run.key, run.num_holders, len(run)) == ([6, 7], 2, 12, 2, 2)
    assert head.keys is keys
    assert not run.is_open
    assert not head.is_open


def test_run_without_content_is_equal_to_nothing() -> None:
    with pytest.raises(AssertionError, match="only runs with content"):
        BlockRun([1]).num_equal([5], 1)
