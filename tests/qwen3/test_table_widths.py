import pytest

from backends.qwen3.table_widths import TableWidths


@pytest.mark.parametrize(
    ("full", "block_size", "expected"),
    [(160, 256, (4, 16, 64, 160)), (16, 256, (4, 16)), (4, 256, (4,)), (2, 512, (2,)), (30, 1000, (2, 5, 17, 30))],
)
def test_a_few_widths_up_to_the_longest_sequence(full, block_size, expected):
    assert TableWidths(full, block_size, is_split=True).all == expected


def test_attention_that_never_splits_needs_one():
    widths = TableWidths(160, 256, is_split=False)
    assert widths.all == (160,)
    assert (widths.narrowest(7), widths.eager(7)) == (160, 7)


@pytest.mark.parametrize(("num_blocks", "width"), [(1, 4), (4, 4), (5, 16), (64, 64), (65, 160), (160, 160)])
def test_captured_and_eager_steps_get_equal_tables(num_blocks, width):
    widths = TableWidths(160, 256, is_split=True)
    assert widths.narrowest(num_blocks) == widths.eager(num_blocks) == width


def test_a_step_without_decode_rows_has_no_table():
    assert TableWidths(160, 256, is_split=True).eager(0) == 0


def test_other_limits_give_other_widths():
    widths = TableWidths(10, 16, is_split=True, limits=(24, 70))
    assert widths.all == (2, 5, 10)
    assert [widths.eager(num_blocks) for num_blocks in (1, 3, 6)] == [2, 5, 10]
