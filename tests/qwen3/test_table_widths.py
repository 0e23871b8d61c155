import pytest

from backends.qwen3.table_widths import TableWidths


def test_a_few_widths_up_to_the_full_one():
    widths = TableWidths(160, 256, num_kv_heads=8, is_split=True)
    assert widths.captured(1) == widths.captured(32) == (4, 16, 64, 160)
    assert widths.captured(33) == (160,)  # as many rows fill a GPU without a split


@pytest.mark.parametrize(
    ("full", "block_size", "expected"), [(16, 256, (4, 16)), (4, 256, (4,)), (2, 512, (2,)), (30, 1000, (2, 5, 17, 30))]
)
def test_none_is_wider_than_the_longest_sequence(full, block_size, expected):
    assert TableWidths(full, block_size, num_kv_heads=8, is_split=True).captured(1) == expected


def test_fewer_heads_need_more_rows_to_fill_a_gpu():
    widths = TableWidths(160, 256, num_kv_heads=4, is_split=True)
    assert (len(widths.captured(64)), len(widths.captured(65))) == (4, 1)


def test_attention_that_never_splits_needs_one():
    widths = TableWidths(160, 256, num_kv_heads=8, is_split=False)
    assert widths.captured(1) == (160,)
    assert widths.eager(1, 7) == 7


@pytest.mark.parametrize(("num_blocks", "width"), [(1, 4), (4, 4), (5, 16), (64, 64), (65, 160), (160, 160)])
def test_captured_and_eager_steps_of_few_rows_get_equal_tables(num_blocks, width):
    widths = TableWidths(160, 256, num_kv_heads=8, is_split=True)
    assert widths.narrowest(8, num_blocks) == widths.eager(8, num_blocks) == width


def test_eager_steps_of_many_rows_or_none_get_what_they_need():
    widths = TableWidths(160, 256, num_kv_heads=8, is_split=True)
    assert widths.eager(33, 5) == 5
    assert widths.eager(0, 0) == 0


def test_other_limits_give_other_widths():
    widths = TableWidths(10, 16, num_kv_heads=2, is_split=True, limits=(24, 70))
    assert widths.captured(1) == (2, 5, 10)
    assert [widths.eager(1, num_blocks) for num_blocks in (1, 3, 6)] == [2, 5, 10]
