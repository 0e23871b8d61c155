import numpy as np

from backends.qwen3.sequence_rows import SequenceRows


def ints(*values):
    return np.array(values, dtype=np.int32)


def make():
    rows = SequenceRows(2, max_model_len=10, block_size=4)
    rows.admit(0, ints(1, 2, 3, 4, 5), ints(7, 8))
    rows.admit(1, ints(9), ints(3))
    return rows


def test_tokens_and_blocks_of_an_admitted_sequence():
    rows = make()
    assert rows.token_ids[0, :5].tolist() == [1, 2, 3, 4, 5]
    assert rows.block_tables.tolist() == [[7, 8, 0], [3, 0, 0]]


def test_tables_grow_each_at_its_own_end():
    rows = make()
    rows.append_blocks(ints(1, 0), ints(2, 1), ints(5, 6, 2))
    assert rows.block_tables.tolist() == [[7, 8, 2], [3, 5, 6]]
    assert rows.blocks_of(1).tolist() == [3, 5, 6]


def test_tokens_grow_at_their_positions():
    rows = make()
    rows.append_tokens(ints(1, 0), ints(1, 5), ints(40, 50))
    assert rows.token_ids[0, :6].tolist() == [1, 2, 3, 4, 5, 50]
    assert rows.token_ids[1, :2].tolist() == [9, 40]


def test_the_last_token_of_the_longest_sequence_needs_no_place():
    rows = SequenceRows(2, max_model_len=3, block_size=4)
    rows.admit(0, ints(1, 2, 3), ints(0))
    rows.admit(1, ints(4), ints(1))
    rows.append_tokens(ints(0, 1), ints(3, 1), ints(8, 9))
    assert rows.token_ids.tolist() == [[1, 2, 3], [4, 9, 0]]


def test_a_released_seat_leaves_no_stale_tail():
    rows = make()
    rows.release(0)
    rows.admit(0, ints(6), ints(1))
    assert rows.block_tables[0].tolist() == [1, 0, 0]


def test_nothing_to_append_is_fine():
    rows = make()
    rows.append_blocks(ints(), ints(), ints())
    rows.append_tokens(ints(), ints(), ints())
    assert rows.block_tables.tolist() == [[7, 8, 0], [3, 0, 0]]


def test_a_seat_beyond_the_first_ones_makes_room_and_keeps_the_others():
    rows = make()
    rows.append_tokens(ints(0), ints(5), ints(50))
    rows.admit(6, ints(30, 31), ints(9))
    rows.append_blocks(ints(0, 6), ints(1, 1), ints(2, 4))
    assert rows.block_tables[[0, 1, 6]].tolist() == [[7, 8, 2], [3, 0, 0], [9, 4, 0]]
    assert rows.token_ids[0, :6].tolist() == [1, 2, 3, 4, 5, 50]
    assert rows.token_ids[6, :2].tolist() == [30, 31]


def test_what_was_admitted_is_a_copy():
    rows, table = make(), ints(5)
    rows.release(1)
    rows.admit(1, ints(1), table)
    table[0] = 99
    assert rows.block_tables[1, 0] == 5
    blocks = rows.blocks_of(1)
    blocks[0] = 99
    assert rows.block_tables[1, 0] == 5
