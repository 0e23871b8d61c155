"""Inputs built with whole arrays equal those of a slow, obvious construction."""

from dataclasses import fields, replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from backends.qwen3.decode_buffers import DecodeBuffers
from backends.qwen3.input_buffers import InputBuffers
from backends.qwen3.mixed_buffers import MixedBuffers
from backends.qwen3.sampling_rows import SamplingRows
from backends.qwen3.sequence_rows import SequenceRows
from backends.qwen3.step_layout import StepLayout
from backends.qwen3.table_widths import TableWidths
from engine.sampling_params import SamplingParams
from tests.qwen3.commands import command
from tests.qwen3.tiny_model import Row, make_inputs

CPU = torch.device("cpu")
MAX_LEN, NUM_SEATS, VOCAB = 40, 6, 97


@st.composite
def steps(draw, only_decodes=False):
    """(block size, sequences by seat as (tokens, table, sampling), rows as (seat, first, count, samples))."""
    block_size = draw(st.sampled_from([1, 4, 16, 64]))
    seats = draw(st.lists(st.integers(0, NUM_SEATS - 1), min_size=1, unique=True))
    sequences, rows = {}, []
    for seat in seats:
        tokens = draw(st.lists(st.integers(0, VOCAB - 1), min_size=1, max_size=MAX_LEN))
        num_blocks = -(-len(tokens) // block_size)
        table = draw(st.lists(st.integers(0, 2**24), min_size=num_blocks, max_size=num_blocks))
        params = SamplingParams(
            temperature=draw(st.sampled_from([0.0, 0.7])), top_k=draw(st.sampled_from([None, 3])), seed=seat
        )
        sequences[seat] = (tokens, table, params)
        first = draw(st.integers(0, len(tokens) - 1))
        count = 1 if only_decodes else draw(st.integers(1, len(tokens) - first))
        rows.append((seat, first, count, first + count == len(tokens)))
    return block_size, sequences, rows


def full_width(full, block_size):
    return TableWidths(full, block_size, is_split=False)


def seat_all(block_size, sequences):
    rows = SequenceRows(NUM_SEATS, MAX_LEN, block_size)
    sampling = SamplingRows(NUM_SEATS, VOCAB, seed=0)
    for seat, (tokens, table, params) in sequences.items():
        rows.admit(seat, np.array(tokens, dtype=np.int32), np.array(table, dtype=np.int32))
        sampling.admit(seat, str(seat), params)
    return rows, sampling


def slow_inputs(block_size, sequences, rows):
    """The model's inputs, row by row and token by token, and the rows in the order of computation."""
    ordered = sorted(rows, key=lambda row: row[2] > 1)
    made = [
        Row(sequences[seat][0], first, first + count, sequences[seat][1][: -(-(first + count) // block_size)])
        for seat, first, count, _ in ordered
    ]
    ends = {seat: sum(count for *_, count, _ in ordered[: index + 1]) - 1 for index, (seat, *_) in enumerate(ordered)}
    wanted = [ends[seat] for seat, *_, samples in rows if samples] or [0]
    return make_inputs(made, block_size, logits_rows=wanted)


def trimmed(tables, contexts, block_size):
    """Block tables without what lies behind each row's context, which may be anything."""
    counts = [-(-context // block_size) for context in contexts.tolist()]
    return [table[:count] for table, count in zip(tables.tolist(), counts, strict=True)]


def assert_same(ours, expected, block_size):
    for kind in ("decode", "chunk"):
        mine, other = getattr(ours, f"{kind}_block_tables"), getattr(expected, f"{kind}_block_tables")
        contexts = getattr(expected, f"{kind}_context_lens")
        assert (mine.dtype, mine.shape) == (other.dtype, other.shape)
        assert trimmed(mine, contexts, block_size) == trimmed(other, contexts, block_size)
    for field in fields(expected):
        mine, other = getattr(ours, field.name), getattr(expected, field.name)
        if field.name.endswith("block_tables"):
            continue
        if isinstance(other, torch.Tensor):
            assert mine.dtype == other.dtype, field.name
            assert mine.tolist() == other.tolist(), field.name
        else:
            assert mine == other, field.name


@settings(max_examples=100, deadline=None)
@given(steps())
def test_inputs_equal_a_slow_construction(step):
    block_size, sequences, rows = step
    seated, sampling = seat_all(block_size, sequences)
    inputs, sampled = InputBuffers(seated, device=CPU, num_tokens=1).build(command(rows), sampling)
    assert_same(inputs, slow_inputs(*step), block_size)
    sampling_rows = [(seat, first + count) for seat, first, count, samples in rows if samples]
    if not sampling_rows:
        assert sampled is None
        return
    assert sampled.positions.tolist() == [position for _, position in sampling_rows]
    assert sampled.temperatures.tolist() == [pytest.approx(sequences[seat][2].temperature) for seat, _ in sampling_rows]
    assert sampled.keys.tolist() == [sampling.keys[seat] for seat, _ in sampling_rows]
    assert sampled.has_filter == any(
        p.temperature > 0 and p.top_k == 3 for p in (sequences[s][2] for s, _ in sampling_rows)
    )


@settings(max_examples=60, deadline=None)
@given(steps(only_decodes=True), st.integers(0, 3), st.booleans())
def test_captured_inputs_equal_a_slow_construction_with_padding(step, num_padding, was_used):
    block_size, sequences, rows = step
    seated, sampling = seat_all(block_size, sequences)
    width, size = -(-MAX_LEN // block_size), len(rows) + num_padding
    buffers = DecodeBuffers(seated, max_rows=NUM_SEATS + 3, widths=full_width(width, block_size), device=CPU)
    if was_used:  # a larger step before leaves no trace
        full = {seat: ([1] * MAX_LEN, [5] * width, SamplingParams(top_p=0.5)) for seat in range(NUM_SEATS)}
        buffers._rows, more = seat_all(block_size, full)
        buffers.fill(command([(seat, MAX_LEN - 1, 1, True) for seat in full]), NUM_SEATS + 3, more)
        buffers._rows = seated
    step_command = command(rows)
    buffers.fill(step_command, size, sampling)
    inputs = buffers.forward_inputs(size, width)
    num = len(rows)
    expected = slow_inputs(block_size, sequences, rows)
    for name in ("token_ids", "positions", "slots", "decode_context_lens"):
        assert getattr(inputs, name)[:num].tolist() == getattr(expected, name).tolist(), name
    contexts = expected.decode_context_lens
    ours, theirs = inputs.decode_block_tables[:num], expected.decode_block_tables
    assert trimmed(ours, contexts, block_size) == trimmed(theirs, contexts, block_size)
    assert buffers.width_of(step_command) == theirs.shape[1]
    assert inputs.num_decodes == size
    assert inputs.token_ids[num:].tolist() == [0] * num_padding
    assert inputs.positions[num:].tolist() == [0] * num_padding
    assert inputs.slots[num:].tolist() == [-1] * num_padding
    assert inputs.decode_context_lens[num:].tolist() == [0] * num_padding
    assert (inputs.num_chunks, inputs.max_query, inputs.max_context) == (0, 0, 0)
    sampled = buffers.sampling()
    assert sampled.positions.tolist() == [first + 1 for _, first, _, _ in rows]
    assert sampled.keys.tolist() == [sampling.keys[seat] for seat, *_ in rows]


def test_captured_inputs_stay_in_the_same_memory():
    seated, sampling = seat_all(4, {0: ([1, 2, 3], [9], SamplingParams())})
    buffers = DecodeBuffers(seated, max_rows=2, widths=full_width(10, 4), device=CPU)
    before, narrow = buffers.forward_inputs(2, 10), buffers.forward_inputs(2, 3)
    buffers.fill(command([(0, 2, 1, True)]), 2, sampling)
    assert before.token_ids.tolist() == [3, 0]
    assert before.decode_block_tables[0, 0] == 9
    assert before.decode_block_tables.stride() == narrow.decode_block_tables.stride() == (10, 1)
    assert narrow.decode_block_tables.tolist() == [[9, 0, 0], [0, 0, 0]]


def test_settings_of_the_same_rows_are_kept_and_positions_move_on():
    rows, sampling = seat_all(4, {0: ([1, 2, 3], [9], SamplingParams(temperature=0.5, top_k=7))})
    buffers = DecodeBuffers(rows, max_rows=2, widths=full_width(10, 4), device=CPU)
    first = command([(0, 2, 1, True)])
    buffers.fill(first, 2, sampling)
    assert (buffers.sampling().temperatures.tolist(), buffers.sampling().positions.tolist()) == ([0.5], [3])
    buffers.fill(replace(first, first_positions=first.first_positions + 1), 2, sampling)  # on the other stage
    sampling.admit(0, "other", SamplingParams(temperature=0.25))
    buffers.fill(replace(first, first_positions=first.first_positions + 2), 2, sampling)
    assert (buffers.sampling().temperatures.tolist(), buffers.sampling().positions.tolist()) == ([0.5], [5])
    buffers.fill(command([(0, 6, 1, True)]), 2, sampling)  # rows told anew
    assert (buffers.sampling().temperatures.tolist(), buffers.sampling().has_filter) == ([0.25], False)


def test_a_rank_that_does_not_sample_gets_no_sampling_inputs():
    seated, _ = seat_all(4, {0: ([1, 2, 3], [9], SamplingParams())})
    inputs, sampled = InputBuffers(seated, device=CPU, num_tokens=8).build(command([(0, 0, 3, True)]), None)
    assert sampled is None
    assert inputs.logits_rows.tolist() == [2]


@pytest.mark.parametrize(("rows", "size"), [([(0, 2, 1, True), (1, 2, 1, True)], 1), ([(0, 10, 1, True)], 2)])
def test_a_step_that_does_not_fit_a_graph_is_our_fault(rows, size):
    sequences = {seat: (list(range(12)), [3, 4, 5], SamplingParams()) for seat in (0, 1)}
    seated, sampling = seat_all(4, sequences)
    buffers = DecodeBuffers(seated, max_rows=2, widths=full_width(2, 4), device=CPU)
    with pytest.raises(AssertionError, match="for a graph of"):
        buffers.fill(command(rows), size, sampling)


def mixed_buffers(seated, block_size):
    widths = TableWidths(-(-MAX_LEN // block_size), block_size, is_split=True, limits=(MAX_LEN // 3, MAX_LEN // 2))
    return MixedBuffers(
        seated, max_tokens=NUM_SEATS * MAX_LEN + 5, max_decodes=NUM_SEATS, max_rows=NUM_SEATS, widths=widths, device=CPU
    )


@settings(max_examples=100, deadline=None)
@given(steps(), st.integers(0, 5), st.booleans())
def test_captured_inputs_of_steps_with_chunks_equal_a_slow_construction_with_padding(step, num_padding, was_used):
    block_size, sequences, rows = step
    seated, sampling = seat_all(block_size, sequences)
    buffers = mixed_buffers(seated, block_size)
    if was_used:  # a larger step before leaves no trace
        full = {seat: ([1] * MAX_LEN, [5] * (-(-MAX_LEN // block_size)), SamplingParams()) for seat in range(NUM_SEATS)}
        buffers._rows, more = seat_all(block_size, full)
        for count in (1, MAX_LEN):
            larger = command([(seat, MAX_LEN - count, count, True) for seat in full])
            buffers.fill(larger, StepLayout(larger, buffers._rows), NUM_SEATS * MAX_LEN + 5, more)
        buffers._rows = seated
    step_command = command(rows)
    layout, expected = StepLayout(step_command, seated), slow_inputs(*step)
    size = layout.num_tokens + num_padding
    sampled = buffers.fill(step_command, layout, size, sampling)
    width = buffers.widths.narrowest(layout.decode_width)
    inputs, num = buffers.forward_inputs(size, width), layout.num_tokens
    assert inputs.decode_block_tables.shape[1] == width
    for name in ("token_ids", "positions", "slots"):
        values = getattr(inputs, name).tolist()
        assert values[:num] == getattr(expected, name).tolist(), name
        assert values[num:] == [-1 if name == "slots" else 0] * num_padding, name
    num_decodes, num_chunks = expected.num_decodes, expected.num_chunks
    assert inputs.num_decodes == min(size, NUM_SEATS) >= num_decodes
    assert inputs.decode_context_lens.tolist() == [
        *expected.decode_context_lens.tolist(), *[0] * (inputs.num_decodes - num_decodes)
    ]  # fmt: skip
    assert inputs.chunk_context_lens.tolist() == [*expected.chunk_context_lens.tolist(), *[0] * (16 - num_chunks)]
    starts = [num_decodes + start for start in expected.chunk_query_starts.tolist()]
    assert inputs.chunk_query_starts.tolist() == starts + [num] * (16 - num_chunks)
    ends = expected.chunk_key_starts.tolist()
    assert inputs.chunk_key_starts.tolist() == ends + ends[-1:] * (16 - num_chunks)
    for kind, count in (("decode", num_decodes), ("chunk", num_chunks)):
        ours, contexts = getattr(inputs, f"{kind}_block_tables")[:count], getattr(expected, f"{kind}_context_lens")
        theirs = getattr(expected, f"{kind}_block_tables")
        assert trimmed(ours, contexts, block_size) == trimmed(theirs, contexts, block_size)
    assert inputs.max_query >= expected.max_query
    assert inputs.max_context >= expected.max_context
    assert buffers.logits_rows(layout).tolist() == expected.logits_rows.tolist()
    eager = InputBuffers(seated, device=CPU, num_tokens=1).build(step_command, sampling)[1]
    assert (sampled is None) == (eager is None)
    for name in ("positions", "keys", "temperatures", "top_ks", "top_ps") if eager else ():
        assert getattr(sampled, name).tolist() == getattr(eager, name).tolist()


def test_a_step_with_more_tokens_than_its_graph_is_our_fault():
    seated, sampling = seat_all(4, {0: ([1, 2, 3], [9], SamplingParams())})
    step = command([(0, 0, 3, True)])
    with pytest.raises(AssertionError, match="3 tokens for a graph of 2"):
        mixed_buffers(seated, 4).fill(step, StepLayout(step, seated), 2, sampling)


def test_eager_steps_get_tables_as_wide_as_captured_ones():
    rows = SequenceRows(1, 20_000, 256)
    rows.admit(0, np.zeros(9000, dtype=np.int32), np.arange(1, 37, dtype=np.int32))
    widths = TableWidths(79, 256, is_split=True)
    buffers = InputBuffers(rows, device=CPU, num_tokens=8, widths=widths)
    tables = buffers.build(command([(0, 8192, 1, False)]), None)[0].decode_block_tables
    assert tables.tolist() == [[*range(1, 37), *[0] * 28]]
