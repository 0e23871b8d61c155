"""Which decode steps run captured, and on what; capturing is played by keeping the call, since here is no GPU."""

import pytest
import torch

from backends.graph_sizes import graph_sizes
from backends.qwen3.cuda_graphs import DecodeGraphs
from backends.qwen3.decode_buffers import DecodeBuffers
from backends.qwen3.sampling_rows import SamplingRows
from backends.qwen3.sequence_rows import SequenceRows
from engine.sampling_params import SamplingParams
from tests.qwen3.commands import command, ints

CPU = torch.device("cpu")
BLOCK_SIZE, MAX_LEN = 4, 40


class Recorder:
    """Captures by keeping the call; notes what it captured and replayed."""

    def __init__(self):
        self.captured, self.replayed = [], []

    def forward(self, inputs):
        self.last = inputs
        return inputs.token_ids[:, None].float().expand(-1, 3)

    def capture(self, run):
        run()
        size = self.last.num_tokens
        self.captured.append(size)

        def replay():
            self.replayed.append(size)
            run()

        return replay


def make(sizes, width=MAX_LEN // BLOCK_SIZE, num_seats=130):
    recorder = Recorder()
    rows = SequenceRows(num_seats, MAX_LEN, BLOCK_SIZE)
    sampling = SamplingRows(num_seats, 97, seed=0)
    for seat in range(num_seats):
        rows.admit(seat, ints(*[seat % 97] * MAX_LEN), ints(*range(MAX_LEN // BLOCK_SIZE)))
        sampling.admit(seat, str(seat), SamplingParams())
    buffers = DecodeBuffers(rows, max_rows=max(sizes), width=width, device=CPU)
    hidden = torch.zeros(max(sizes), 3)
    return DecodeGraphs(recorder.forward, buffers, hidden, sizes, recorder.capture), recorder, sampling


def decodes(num_rows, first=5):
    return command([(seat, first, 1, True) for seat in range(num_rows)])


@pytest.mark.parametrize("limit", [1, 12, 20, 100])
def test_every_decode_step_within_the_limit_has_a_graph(limit):
    graphs, recorder, _ = make(graph_sizes(limit))
    for num_rows in range(1, limit + 1):
        size = graphs.size_for(decodes(num_rows))
        assert size in recorder.captured
        assert size >= num_rows
    assert graphs.size_for(decodes(limit)) == limit


def test_the_largest_is_captured_first_and_none_above_the_limit():
    _, recorder, _ = make(graph_sizes(20))
    assert recorder.captured == sorted(graph_sizes(20), reverse=True)
    assert recorder.captured[0] == 20


def test_a_larger_step_runs_eager():
    graphs, _, _ = make((1, 2, 4))
    assert graphs.size_for(decodes(5)) is None


def test_a_step_with_a_chunk_runs_eager():
    graphs, _, _ = make((1, 2, 4))
    assert graphs.size_for(command([(0, 5, 1, True), (1, 5, 2, True)])) is None


def test_a_sequence_longer_than_the_captured_block_table_runs_eager():
    graphs, _, _ = make((1, 2), width=3)  # 12 tokens
    assert graphs.size_for(decodes(2, first=11)) == 2
    assert graphs.size_for(decodes(2, first=12)) is None


def test_a_step_runs_in_the_smallest_graph_that_holds_it():
    graphs, recorder, sampling = make((2, 4, 8))
    for num_rows, size in ((1, 2), (2, 2), (3, 4), (5, 8), (8, 8)):
        step = decodes(num_rows)
        assert graphs.size_for(step) == size
        sampled = graphs.prepare(step, size, sampling)
        hidden = graphs.run(num_rows, size)
        assert recorder.replayed[-1] == size
        assert hidden[:, 0].tolist() == list(range(num_rows))
        assert sampled.keys.tolist() == sampling.keys[:num_rows].tolist()


def test_a_rank_that_does_not_sample_needs_no_sampling_rows():
    graphs, _, _ = make((2,))
    assert graphs.prepare(decodes(1), 2, None) is None
    assert graphs.run(1, 2).shape == (1, 3)
