import pytest
import torch

from backends.qwen3.ranks import single_rank
from backends.qwen3.runner import Runner
from backends.qwen3.runner_setup import build_runner
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


def played_graphs(runner):
    """The same runner with graphs, captured by keeping the call."""
    from backends.qwen3.cuda_graphs import DecodeGraphs
    from backends.qwen3.decode_buffers import DecodeBuffers

    def capture(run):
        run()
        return run

    buffers = DecodeBuffers(runner._rows, max_rows=4, width=16, device=CPU)
    runner._graphs = DecodeGraphs(runner._forward, buffers, torch.zeros(4, 40), (1, 2, 4), capture)


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
    assert first.graph_size is None
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
