"""The steps that measure and compile on a GPU can be computed: here, on a tiny model."""

import pytest
import torch

from backends.qwen3.attention import PagedAttention
from backends.qwen3.attention_torch import TorchKernels
from backends.qwen3.group import SingleRank
from backends.qwen3.kv_cache import KVCache
from backends.qwen3.loader import random_model
from backends.qwen3.warm_up import WarmUp, decode_inputs, prefill_inputs
from tests.qwen3.runner_settings import CONFIG, settings

CPU = torch.device("cpu")


class Counter:
    """A model with a cache of one block, and the sizes that it saw."""

    def __init__(self):
        self.model = random_model(CONFIG, SingleRank(), device=CPU)
        self.cache = KVCache(2, 1, 4, 2, 16, dtype=torch.float32, device=CPU)
        self.steps = []

    def forward(self, inputs):
        hidden = self.model(inputs, self.cache, PagedAttention(TorchKernels()))
        assert hidden.isfinite().all()
        self.steps.append((inputs.num_tokens, inputs.num_decodes, inputs.num_chunks, len(hidden)))
        return hidden


def warm_up(**changes):
    counter = Counter()
    return WarmUp(settings(**changes), CPU, counter.forward, counter.model.logits), counter


@pytest.mark.parametrize(("budget", "num_chunks"), [(64, 1), (150, 3), (5, 1)])
def test_the_largest_step_is_a_whole_budget_with_as_many_logits_as_rows(budget, num_chunks):
    steps, counter = warm_up(max_num_batched_tokens=budget)
    steps.largest_step()
    assert counter.steps == [(budget, 0, num_chunks, min(4, budget))]


@pytest.mark.parametrize(
    ("sizes", "mixed_sizes", "expected"),
    [
        ((1, 3), (16, 32), [(3, 3, 0, 3), (32, 0, 1, 32)]),
        ((1, 3), (16, 100), [(3, 3, 0, 3), (100, 0, 2, 100)]),
        ((1, 3), (), [(3, 3, 0, 3)]),
        ((), (16,), []),
    ],
)
def test_the_largest_graphs_of_both_kinds(sizes, mixed_sizes, expected):
    steps, counter = warm_up(graph_sizes=sizes, mixed_graph_sizes=mixed_sizes)
    steps.largest_graphs()
    assert counter.steps == expected


def test_small_steps_of_each_kind_run():
    steps, counter = warm_up()
    steps.special_sizes()
    assert [(tokens, decodes) for tokens, decodes, _, _ in counter.steps] == [
        (1, 1), (17, 0), (2, 2), (18, 0), (16, 16), (32, 0)
    ]  # fmt: skip


def test_nothing_is_written():
    steps, counter = warm_up()
    for run in (steps.largest_step, steps.largest_graphs, steps.special_sizes):
        run()
    assert not any(layer.any() for layer in (*counter.cache.keys, *counter.cache.values))


def test_chunks_are_no_longer_than_a_sequence_and_tables_fit_them():
    inputs = prefill_inputs(settings(), 150, CPU)
    assert inputs.chunk_context_lens.tolist() == [64, 64, 22]
    assert inputs.chunk_query_starts.tolist() == inputs.chunk_key_starts.tolist() == [0, 64, 128, 150]
    assert inputs.chunk_block_tables.shape == (3, 16)
    assert decode_inputs(settings(), 3, CPU).decode_block_tables.shape == (3, 16)
