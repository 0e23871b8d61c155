import hypothesis
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from backends.graph_table import GraphTable
from backends.qwen3.attention import PagedAttention
from backends.qwen3.attention_torch import TorchKernels
from backends.qwen3.graph_capture import capture_graphs
from backends.qwen3.ranks import single_rank
from backends.qwen3.runner import Runner
from backends.qwen3.runner_setup import build_runner
from backends.qwen3.table_widths import TableWidths
from engine.sampling_params import SamplingParams
from tests.qwen3.commands import command
from tests.qwen3.runner_settings import settings

CPU = torch.device("cpu")


@pytest.fixture
def runner():
    runner = build_runner(settings(), single_rank(CPU))
    for seat in range(3):
        runner.sampling.admit(seat, str(seat), SamplingParams(temperature=0))
    return runner


class StrayKernels(TorchKernels):
    """Rows of no chunk come out as NaN, as they may on a GPU."""

    def chunks(self, query, keys, values, inputs):
        out = super().chunks(query, keys, values, inputs)
        starts = inputs.chunk_query_starts.tolist()
        out[: starts[0]] = out[starts[-1] :] = torch.nan
        return out


def played_graphs(runner, **changes):
    """The same runner with graphs, captured by keeping the call."""

    def capture(run):
        run()
        return run

    made = settings(**changes)
    table = GraphTable(made.graph_sizes, made.mixed_graph_sizes)
    widths = TableWidths(made.blocks_per_sequence, made.block_size, is_split=True)
    attention = PagedAttention(StrayKernels())

    def forward(inputs):
        return runner._model(inputs, runner._kv_cache, attention)

    runner._graphs = capture_graphs(made, table, widths, runner._rows, forward, capture, CPU)


def prompts():
    """Three sequences in seats 0 to 2: a whole prompt, a part of one, a prompt of one token."""
    return command(
        [(0, 0, 6, True), (1, 0, 3, False), (2, 0, 1, True)],
        admitted=[(0, range(10, 16), [5, 6], 0), (1, range(20, 29), [7, 8, 9], 0), (2, [30], [3], 0)],
    )


def test_tokens_come_in_batch_order_whatever_the_order_of_computation(runner):
    both = runner.step(prompts()).token_ids.tolist()
    assert len(both) == 2
    other = build_runner(settings(), single_rank(CPU))
    for seat in (0, 1):
        other.sampling.admit(seat, str(seat), SamplingParams(temperature=0))
    alone = [
        other.step(command([(0, 0, 6, True)], admitted=[(0, range(10, 16), [5, 6], 0)])).token_ids[0],
        other.step(command([(1, 0, 1, True)], admitted=[(1, [30], [3], 0)])).token_ids[0],
    ]
    assert both == alone


def decode_twice(is_captured):
    """Tokens of two decode steps of sampled sequences, the first with a row that yields none."""
    runner = build_runner(settings(), single_rank(CPU))
    for seat in range(3):
        runner.sampling.admit(seat, str(seat), SamplingParams(temperature=0.7, top_k=20, seed=seat))
    if is_captured:
        played_graphs(runner)
    first = runner.step(prompts())
    assert first.graph_size == (16 if is_captured else None)
    tokens = [(0, 6, first.token_ids[0]), (2, 1, first.token_ids[1])]
    second = runner.step(command([(2, 1, 1, True), (1, 3, 1, False), (0, 6, 1, True)], new_tokens=tokens))
    assert second.graph_size == (4 if is_captured else None)
    assert len(second.token_ids) == len(second.is_bad) == 2
    tokens = [(2, 2, second.token_ids[0]), (0, 7, second.token_ids[1])]
    third = runner.step(command([(0, 7, 1, True), (2, 2, 1, True)], new_tokens=tokens))
    assert third.graph_size == (2 if is_captured else None)
    return second.token_ids.tolist(), third.token_ids.tolist()


def test_decode_steps_in_graphs_equal_eager_ones():
    assert decode_twice(is_captured=True) == decode_twice(is_captured=False)


@hypothesis.settings(max_examples=40, deadline=None)
@given(st.data())
def test_steps_with_chunks_in_graphs_equal_eager_ones(data):
    """Hidden states of random steps, on a cache with NaN in what nobody owns."""
    lengths = data.draw(st.lists(st.integers(1, 20), min_size=1, max_size=6))
    counts = [data.draw(st.sampled_from((1, length))) if length > 1 else 1 for length in lengths]
    samples = [data.draw(st.booleans()) for _ in lengths]
    changes = {"max_num_seqs": 6, "graph_sizes": (1, 2, 6), "mixed_graph_sizes": (16, 32, 128), "num_blocks": 40}
    runner = build_runner(settings(**changes), single_rank(CPU))
    played_graphs(runner, **changes)
    tables = [[6 * seat + 3 + block for block in range(-(-length // 4))] for seat, length in enumerate(lengths)]
    owned = {block for table in tables for block in table}
    for layer in (*runner._kv_cache.keys, *runner._kv_cache.values):
        layer.uniform_()
        layer[sorted(set(range(1, 40)) - owned)] = torch.nan
    admitted = [(seat, range(seat, seat + n), tables[seat], 0) for seat, n in enumerate(lengths)]
    rows = [(seat, lengths[seat] - count, count, samples[seat]) for seat, count in enumerate(counts)]
    step = command(rows, admitted=admitted)
    runner._apply(step)
    captured = runner._graphs.prepare(step, None)
    assert captured.graph_size >= sum(counts)
    hidden = captured.launch()
    cache = runner._kv_cache._memory.clone()
    eager = runner._prepare_eager(step).launch()
    assert len(hidden) == (max(1, sum(samples)) if captured.picked is None else len(rows))
    assert not hidden.isnan().any()
    num_sampled = sum(samples)
    ours = hidden[:num_sampled] if captured.picked is None else hidden[samples]
    torch.testing.assert_close(ours, eager[:num_sampled])
    torch.testing.assert_close(cache, runner._kv_cache._memory, equal_nan=True)


@pytest.mark.parametrize(
    ("rows", "size"),
    [
        ([(0, 5, 1, True)], 1),
        ([(0, 5, 1, True), (1, 5, 1, True), (2, 5, 1, True)], 4),
        ([(0, 0, 2, True)], 16),
        ([(0, 0, 15, False), (1, 5, 1, True), (2, 5, 1, True)], 32),
        ([(0, 0, 32, False), (1, 5, 1, True)], None),
    ],
)
def test_a_step_runs_in_the_graph_that_the_table_names(runner, rows, size):
    played_graphs(runner)
    admitted = [(seat, range(40), range(1, 11), 0) for seat in range(3)]
    output = runner.step(command(rows, admitted=admitted))
    assert output.graph_size == size
    num_chunk_tokens = sum(count for _, _, count, _ in rows if count > 1)
    num_chunks = sum(count > 1 for _, _, count, _ in rows)
    assert runner.graph_table.size_of(len(rows) - num_chunks, num_chunks, num_chunk_tokens) == size
    assert len(output.token_ids) == sum(samples for *_, samples in rows)


def test_sequences_longer_than_the_captured_tables_run_eager(runner):
    played_graphs(runner, max_model_len=8)
    admitted = [(0, range(20), range(1, 6), 0)]
    assert runner.step(command([(0, 0, 9, False)], admitted=admitted)).graph_size is None
    assert runner.step(command([(0, 9, 1, False)])).graph_size is None
    assert runner.step(command([(0, 0, 8, False)])).graph_size == 16


def test_nan_in_a_graph_fails_its_row_and_no_other(runner):
    played_graphs(runner)
    runner.step(prompts())
    poison(runner, 5)  # of seat 0
    rows = [(0, 6, 1, True), (1, 3, 5, True), (2, 1, 1, True)]
    output = runner.step(command(rows, new_tokens=[(0, 6, 1), (2, 1, 1)]))
    assert output.graph_size == 16
    assert output.is_bad.tolist() == [True, False, False]


def test_a_step_in_which_no_row_samples(runner):
    output = runner.step(command([(0, 0, 3, False)], admitted=[(0, range(9), [5, 6, 7], 0)]))
    assert len(output.token_ids) == len(output.is_bad) == 0


def poison(runner, block):
    for layer in (*runner._kv_cache.keys, *runner._kv_cache.values):
        layer[block] = torch.nan


def test_nan_fails_its_row_and_no_other(runner):
    first = runner.step(prompts())
    poison(runner, 5)  # of seat 0
    tokens = [(0, 6, first.token_ids[0]), (2, 1, first.token_ids[1])]
    output = runner.step(command([(0, 6, 1, True), (2, 1, 1, True)], new_tokens=tokens))
    assert output.is_bad.tolist() == [True, False]
    assert output.token_ids.min() >= 0


def test_blocks_of_a_failed_row_are_zeroed_when_they_get_a_new_owner_and_not_sooner(runner):
    runner.step(prompts())
    for block in (5, 6):
        poison(runner, block)
    keys = runner._kv_cache.keys[0]
    runner.step(command([(2, 1, 1, True)], failed=[0], released=[0], new_tokens=[(2, 1, 4)]))
    assert keys[5].isnan().all()
    runner.step(command([(0, 0, 1, True)], admitted=[(0, [50], [5], 0)]))
    assert not keys[5].isnan().any()
    assert keys[6].isnan().all()
    runner.step(command([(0, 1, 1, True)], grown=[(0, [6])], new_tokens=[(0, 1, 4)]))
    assert not keys[6].isnan().any()


def test_hit_blocks_are_never_zeroed(runner):
    runner.step(prompts())
    runner.step(command([(2, 1, 1, True)], failed=[0], released=[0], new_tokens=[(2, 1, 4)]))
    before = runner._kv_cache.keys[0][5].clone()
    runner.step(command([(0, 4, 1, True)], admitted=[(0, range(10, 15), [5, 10], 1)]))
    assert torch.equal(runner._kv_cache.keys[0][5], before)


def test_times_are_measured(runner):
    assert 0 < runner.step(prompts()).device_s < 60


def test_a_rank_that_does_not_sample_returns_nothing():
    runner = build_runner(settings(), single_rank(CPU))
    silent = Runner(
        model=runner._model,
        attention=runner._attention,
        kv_cache=runner._kv_cache,
        rows=runner._rows,
        sampling=None,
        buffers=runner._buffers,
        graphs=None,
        timer=runner._timer,
        max_rows=4,
        notice="",
    )
    assert len(silent.step(prompts()).token_ids) == 0


def test_without_a_number_the_cpu_takes_what_all_sequences_may_need():
    assert build_runner(settings(num_blocks=None), single_rank(CPU)).num_blocks == 4 * 16
