import pytest

from backends.qwen3.context_splits import context_splits


@pytest.mark.parametrize(
    ("max_context", "splits"), [(1024, 1), (2047, 1), (2048, 2), (4096, 4), (16_384, 16), (40_960, 16)]
)
def test_rows_that_fill_the_gpu_are_split_where_a_context_may_be_long(max_context, splits):
    assert context_splits(64, 8, max_context) == splits


@pytest.mark.parametrize(("num_rows", "splits"), [(64, 16), (65, 15), (128, 8), (256, 4), (1024, 1), (5000, 1)])
def test_many_rows_get_fewer_splits(num_rows, splits):
    assert context_splits(num_rows, 8, 40_960) == splits


@pytest.mark.parametrize(("num_rows", "splits"), [(1, 16), (4, 16), (8, 8), (16, 4), (24, 4), (256, 4)])
def test_few_rows_are_split_to_fill_the_gpu(num_rows, splits):
    assert context_splits(num_rows, 8, 4096) == splits


def test_fewer_heads_a_rank_need_more_splits():
    assert [context_splits(16, heads, 1024) for heads in (8, 4, 1)] == [4, 8, 8]


@pytest.mark.parametrize(("max_context", "splits"), [(1, 1), (128, 1), (511, 1), (512, 4), (1024, 8)])
def test_a_split_is_no_shorter_than_a_kernel_reads_at_once(max_context, splits):
    assert context_splits(1, 8, max_context) == splits


@pytest.mark.parametrize(("num_rows", "splits"), [(16, 4), (17, 1), (32, 1), (256, 1)])
def test_short_contexts_are_not_split_in_two_or_three(num_rows, splits):
    assert context_splits(num_rows, 8, 1024) == splits
