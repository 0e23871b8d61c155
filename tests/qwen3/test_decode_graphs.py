"""Which decode steps run captured, and on what; capturing is played by keeping the call, since here is no GPU."""

import pytest
import torch

from backends.graph_sizes import graph_sizes
from backends.qwen3.decode_buffers import DecodeBuffers
from backends.qwen3.decode_graphs import DecodeGraphs
from backends.qwen3.sampling_rows import SamplingRows
from backends.qwen3.sequence_rows import SequenceRows
from backends.qwen3.table_widths import TableWidths
from engine.sampling_params import SamplingParams
from tests.qwen3.commands import command, ints

CPU = torch.device("cpu")
BLOCK_SIZE, MAX_LEN = 256, 20_000
FULL = -(-MAX_LEN // BLOCK_SIZE)


class Recorder:
    """Captures by keeping the call; notes (size, width of the tables) of what it captured and replayed."""

    def __init__(self):
        self.captured, self.replayed = [], []

    def forward(self, inputs):
        self.last = inputs
        return inputs.token_ids[:, None].float().expand(-1, 3)

    def capture(self, run):
        run()
        key = (self.last.num_tokens, self.last.decode_block_tables.shape[1])
        self.captured.append(key)

        def replay():
            self.replayed.append(key)
            run()

        return replay


def make(sizes, *, full=FULL, is_split=True, num_seats=10):
    recorder = Recorder()
    rows = SequenceRows(num_seats, MAX_LEN, BLOCK_SIZE)
    sampling = SamplingRows(num_seats, 97, seed=0)
    for seat in range(num_seats):
        rows.admit(seat, ints(*[seat % 97] * MAX_LEN), ints(*range(100 * seat, 100 * seat + FULL)))
        sampling.admit(seat, str(seat), SamplingParams())
    widths = TableWidths(full, BLOCK_SIZE, is_split=is_split)
    buffers = DecodeBuffers(rows, max_rows=max(sizes), widths=widths, device=CPU)
    hidden = torch.zeros(max(sizes), 3)
    return DecodeGraphs(recorder.forward, buffers, hidden, sizes, recorder.capture), recorder, sampling


def decodes(num_rows, first=5):
    return command([(seat, first, 1, True) for seat in range(num_rows)])


def test_the_largest_is_captured_first():
    _, recorder, _ = make(graph_sizes(20), is_split=False)
    assert recorder.captured == [(size, FULL) for size in sorted(graph_sizes(20), reverse=True)]
    assert recorder.captured[0][0] == 20


def test_sizes_that_attention_splits_are_captured_in_several_widths():
    _, recorder, _ = make((4, 16))
    assert recorder.captured == [(16, 79), (16, 64), (16, 16), (16, 4), (4, 79), (4, 64), (4, 16), (4, 4)]


def test_a_sequence_longer_than_the_captured_block_table_has_no_graph():
    graphs, _, sampling = make((1, 2), full=3)
    assert graphs.prepare(decodes(2, first=767), 2, sampling) is not None
    assert graphs.prepare(decodes(2, first=768), 2, sampling) is None


@pytest.mark.parametrize(("longest", "width"), [(1, 4), (1023, 4), (1024, 16), (4096, 64), (16_383, 64), (16_384, 79)])
def test_a_step_runs_with_the_narrowest_tables_that_hold_its_longest_context(longest, width):
    graphs, recorder, sampling = make((2, 4))
    step = command([(0, 7, 1, True), (1, longest, 1, True), (2, 3, 1, True)])
    graphs.prepare(step, 4, sampling).launch()
    assert recorder.replayed == [(4, width)]
    tables, needed = recorder.last.decode_block_tables, longest // BLOCK_SIZE + 1
    assert tables.shape == (4, width)
    assert tables[1, :needed].tolist() == list(range(100, 100 + needed))
    assert recorder.last.decode_context_lens.tolist() == [8, longest + 1, 4, 0]


def test_the_rows_of_a_step_and_their_sampling_come_back():
    graphs, recorder, sampling = make((2, 4, 8))
    for num_rows, size in ((1, 2), (2, 2), (3, 4), (5, 8), (8, 8)):
        prepared = graphs.prepare(decodes(num_rows), size, sampling)
        hidden = prepared.launch()
        assert recorder.replayed[-1][0] == prepared.graph_size == size
        assert hidden[:, 0].tolist() == list(range(num_rows))
        assert prepared.sampling.keys.tolist() == sampling.keys[:num_rows].tolist()
        assert (prepared.num_sampled, prepared.picked) == (num_rows, None)


def test_a_rank_that_does_not_sample_needs_no_sampling_rows():
    graphs, _, _ = make((2,))
    prepared = graphs.prepare(decodes(1), 2, None)
    assert prepared.sampling is None
    assert prepared.launch().shape == (1, 3)
