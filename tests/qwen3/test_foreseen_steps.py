"""Decode steps written ahead are the steps that come: a scheduler's own batches, with full pools and chunks between."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from backends.qwen3.command_builder import CommandBuilder
from backends.qwen3.decode_buffers import DecodeBuffers
from backends.qwen3.decode_stage import DecodeStage
from backends.qwen3.sampling_rows import SamplingRows
from backends.qwen3.sequence_rows import SequenceRows
from backends.qwen3.table_widths import TableWidths
from engine import Limits, Request, SamplingParams, Scheduler, StepResult, TokenPrompt, VllmPolicy
from tests.qwen3.commands import command

CPU = torch.device("cpu")
VOCAB = 97
BLOCK = 4
LIMITS = Limits(block_size=BLOCK, max_num_seqs=4, max_num_batched_tokens=12, max_model_len=31)
WIDTHS = TableWidths(8, BLOCK, is_split=False)

requests = st.lists(st.tuples(st.integers(1, 20), st.integers(1, 12), st.integers(0, 12)), min_size=1, max_size=8)


class Rank:
    """What a rank keeps of the sequences, with buffers that foresee."""

    def __init__(self):
        self.rows = SequenceRows(LIMITS.max_num_seqs, LIMITS.max_model_len, BLOCK)
        self.sampling = SamplingRows(LIMITS.max_num_seqs, VOCAB, seed=0)
        self.buffers = self.new_buffers()

    def new_buffers(self):
        return DecodeBuffers(self.rows, max_rows=LIMITS.max_num_seqs, widths=WIDTHS, device=CPU)

    def apply(self, step):
        self.rows.append_tokens(*step.new_tokens)
        for seat in step.released:
            self.rows.release(seat)
        for sequence in step.admitted:
            self.rows.admit(sequence.seat, sequence.token_ids, sequence.block_table)
        self.rows.append_blocks(*step.grown)


def seen(buffers, size, contexts):
    """What model and sampler would read; of a block table only what lies within the context."""
    inputs, sampled = buffers.forward_inputs(size, WIDTHS.full), buffers.sampling()
    tables = [row[: -(-int(n) // BLOCK)].tolist() for row, n in zip(inputs.decode_block_tables, contexts, strict=False)]
    names = ("token_ids", "positions", "slots", "decode_context_lens")
    columns = [getattr(inputs, name).tolist() for name in names]
    return columns, tables, [getattr(sampled, name).tolist() for name in ("positions", "keys", "temperatures")]


@given(requests, st.integers(6, 14), st.booleans())
def test_what_is_foreseen_equals_what_is_written_at_once(arrivals, num_blocks, is_told_anew):
    scheduler = Scheduler(LIMITS, num_blocks, VllmPolicy())
    rank = Rank()
    builder = CommandBuilder(VOCAB, BLOCK, rank.sampling)
    waiting = sorted(enumerate(arrivals), key=lambda each: each[1][2])
    step_number = 0
    while waiting or scheduler.has_unfinished:
        while waiting and waiting[0][1][2] <= step_number:
            index, (num_prompt, num_output, _) = waiting.pop(0)
            params = SamplingParams(temperature=0.5 + index, max_tokens=num_output, ignore_eos=True)
            scheduler.add(Request(str(index), TokenPrompt(range(index, index + num_prompt)), params))
        step_number += 1
        if not scheduler.has_unfinished:
            continue
        batch = scheduler.schedule()
        if not len(batch):
            continue
        step, _ = builder.build(batch)
        if is_told_anew:  # another rank gets arrays of its own
            step = copied(step)
        check(rank, step)
        tokens = tuple((7 * step_number + row) % VOCAB for row in range(batch.shape.num_sampled))
        builder.note_result(step, np.array(tokens, dtype=np.int32), {})
        scheduler.update(batch, StepResult(tokens, 0.0, 0.0))


def copied(step):
    columns = {name: getattr(step, name).copy() for name in ("seats", "first_positions", "num_tokens", "samples")}
    tokens = type(step.new_tokens)(*[column.copy() for column in step.new_tokens])
    others = {name: getattr(step, name) for name in ("failed", "released", "admitted", "grown")}
    return type(step)(new_tokens=tokens, **others, **columns)


def check(rank, step):
    rank.apply(step)
    if step.num_tokens.max() > 1:
        rank.buffers.forget()
        return
    size = min(LIMITS.max_num_seqs, step.num_rows + 1)
    rank.buffers.fill(step, size, rank.sampling)
    at_once = rank.new_buffers()
    at_once.fill(step, size, rank.sampling)
    contexts = step.first_positions + 1
    assert seen(rank.buffers, size, contexts) == seen(at_once, size, contexts)
    rank.buffers.foresee(step, size, rank.sampling)


@pytest.fixture
def rank():
    rank = Rank()
    rank.apply(command([(0, 0, 1, True)], admitted=[(0, [1, 2, 3], [5], 0), (1, [4, 5, 6], [6], 0)]))
    return rank


def test_a_foreseen_step_is_not_written_again(rank, monkeypatch):
    """With all of it foreseen, only tokens are left to write; blocks that come are written for their rows alone."""
    first = command([(0, 2, 1, True), (1, 1, 1, True)])
    rank.buffers.fill(first, 2, rank.sampling)
    rank.buffers.foresee(first, 2, rank.sampling)
    monkeypatch.setattr(DecodeStage, "write", None)
    second = command([(0, 3, 1, True), (1, 2, 1, True)], new_tokens=[(0, 3, 40), (1, 2, 41)], grown=[(0, [7])])
    rank.apply(second)
    rank.buffers.fill(second, 2, rank.sampling)
    inputs = rank.buffers.forward_inputs(2, 2)
    assert inputs.token_ids.tolist() == [40, 41]
    assert inputs.slots.tolist() == [5 * BLOCK + 3, 6 * BLOCK + 2]
    assert inputs.decode_block_tables[0].tolist()[:1] == [5]


@pytest.mark.parametrize(
    "change",
    [
        {"rows": [(0, 4, 1, True)], "new_tokens": [(0, 4, 9)]},  # another position
        {"rows": [(1, 3, 1, True)], "new_tokens": [(1, 3, 9)]},  # another seat
        {"rows": [(0, 3, 1, True)], "new_tokens": [(0, 2, 9)]},  # its token is not there
        {"rows": [(0, 3, 1, True)], "new_tokens": [(0, 3, 9)], "released": [1]},
        {"rows": [(0, 3, 1, True)], "new_tokens": [(0, 3, 9)], "grown": [(1, [8])]},  # blocks of one that has no row
    ],
)
def test_any_other_step_is_written_anew(rank, change, monkeypatch):
    first = command([(0, 2, 1, True)])
    rank.buffers.fill(first, 1, rank.sampling)
    rank.buffers.foresee(first, 1, rank.sampling)
    write, written = DecodeStage.write, []
    monkeypatch.setattr(DecodeStage, "write", lambda self, *args: (written.append(args), write(self, *args)))
    other = command(**change)
    rank.apply(other)
    rank.buffers.fill(other, 1, rank.sampling)
    assert len(written) == 1


def test_a_step_between_spoils_what_was_foreseen(rank, monkeypatch):
    first = command([(0, 2, 1, True)])
    rank.buffers.fill(first, 1, rank.sampling)
    rank.buffers.foresee(first, 1, rank.sampling)
    rank.buffers.forget()
    second = command([(0, 3, 1, True)], new_tokens=[(0, 3, 9)])
    rank.apply(second)
    write, written = DecodeStage.write, []
    monkeypatch.setattr(DecodeStage, "write", lambda self, *args: (written.append(args), write(self, *args)))
    rank.buffers.fill(second, 1, rank.sampling)
    assert len(written) == 1


def test_a_row_at_the_end_of_the_widest_table_is_not_foreseen(rank):
    last = command([(0, 30, 1, True)])
    rank.buffers.fill(last, 1, rank.sampling)
    rank.buffers.foresee(last, 1, rank.sampling)  # position 31 would lie beyond the longest sequence
    assert rank.buffers.forward_inputs(1, 8).positions.tolist() == [30]
