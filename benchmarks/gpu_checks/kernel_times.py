"""Microseconds that each kernel of a decode step takes in a graph; numbers only, nothing can fail but the running."""

from collections.abc import Callable, Iterator
from functools import cache, partial

import torch

from backends.qwen3.group import SingleRank
from backends.qwen3.loader import random_model
from backends.qwen3.model import Qwen3Model
from backends.qwen3.named_config import named_config
from backends.qwen3.ops import ops_for
from backends.qwen3.rotary import rotary_table
from backends.qwen3.sampler import Sampler
from backends.qwen3.sampling_inputs import SamplingInputs
from benchmarks.gpu_checks.attention_cases import attention_of
from benchmarks.gpu_checks.capture import capture_for, time_of
from benchmarks.gpu_checks.case import Case, Verdict
from benchmarks.gpu_checks.setup import Setup
from benchmarks.gpu_checks.step_rows import Row
from benchmarks.gpu_checks.stepper import Stepper

_REPEATS = 20
Call = Callable[[int], object]


def cases(setup: Setup) -> Iterator[Case]:
    """By number of rows, at 512 tokens of context."""
    model = cache(partial(_model, setup))
    for num_rows in (1, 32, 256) if setup.is_cuda else (1, 2):
        yield Case(f"{num_rows} rows, us", partial(_times, setup, model, num_rows))


def _model(setup: Setup) -> Qwen3Model:
    return random_model(named_config(setup.model), SingleRank(), device=torch.device(setup.device))


def _times(setup: Setup, model: Callable[[], Qwen3Model], num_rows: int) -> Verdict:
    """Each kernel runs once a layer, on that layer's weights, so that these come from memory as in a real step."""
    by_layer, once = _calls(setup, model(), num_rows)
    num_layers = model().config.num_hidden_layers
    numbers = {name: 1e6 * _time(setup, call, num_layers) / num_layers for name, call in by_layer.items()}
    numbers |= {name: 1e6 * _time(setup, call, 1) for name, call in once.items()}
    return Verdict(all(value > 0 for value in numbers.values()), numbers)


def _time(setup: Setup, call: Call, num_calls: int) -> float:
    def run() -> None:
        for index in range(num_calls):
            call(index)

    return time_of(capture_for(is_cuda=setup.is_cuda)(run), is_cuda=setup.is_cuda, repeats=_REPEATS)


def _calls(setup: Setup, model: Qwen3Model, num_rows: int) -> tuple[dict[str, Call], dict[str, Call]]:
    """Calls for layer i, and calls of once a step."""
    config, layers, device = model.config, model.layers, torch.device(setup.device)
    attention, context = attention_of(setup, setup.usual_attention), 512 if setup.is_cuda else 20
    block_size = setup.usual_attention.block_size
    stepper = Stepper(model, attention, [[1] * context] * num_rows, block_size=block_size, device=device)
    inputs = stepper.steps.inputs([Row(seat, context - 1, context) for seat in range(num_rows)], device)
    keys, values = stepper.kv_cache.keys, stepper.kv_cache.values
    ops, rotary = ops_for(device), rotary_table(config.head_dim, config.rope_theta, context, device)

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(num_rows, *shape, device=device).to(config.dtype)

    heads, kv_heads, size = config.num_attention_heads, config.num_key_value_heads, config.head_dim
    x, residual, inner = normal(config.hidden_size), normal(config.hidden_size), config.intermediate_size
    packed, query = normal((heads + 2 * kv_heads) * size), normal(heads, size)
    flat, gate_up, gated = normal(heads * size), normal(2 * inner), normal(inner)
    norms = [(layer.attention.q_norm.weight, layer.attention.k_norm.weight) for layer in layers]
    places = (rotary, inputs.positions, inputs.slots)
    by_layer: dict[str, Call] = {
        "qkv": lambda i: layers[i].attention.qkv(x),
        "norm_rope_store": lambda i: ops.norm_rope_store(packed, *norms[i], 1e-6, *places, keys[i], values[i]),
        "attention": lambda i: attention(query, keys[i], values[i], inputs),
        "out": lambda i: layers[i].attention.out(flat),
        "add_rms_norm": lambda i: ops.add_rms_norm(x, residual, layers[i].mlp_norm.weight, 1e-6),
        "gate_up": lambda i: layers[i].mlp.gate_up(x),
        "silu_mul": lambda _: ops.silu_mul(gate_up),
        "down": lambda i: layers[i].mlp.down(gated),
    }
    logits, sampler, rows = model.logits(x), Sampler(), _sampling_rows(num_rows, device, config.vocab_size)
    once: dict[str, Call] = {
        "embed": lambda _: model.embedding.embed(inputs.token_ids),
        "head": lambda _: model.logits(x),
        "sample": lambda _: sampler(logits, rows),
        "step_without_head": lambda _: model(inputs, stepper.kv_cache, attention),
    }
    return by_layer, once


def _sampling_rows(num_rows: int, device: torch.device, vocab_size: int) -> SamplingInputs:
    """Plain draws at temperature 0.6."""
    return SamplingInputs(
        temperatures=torch.full((num_rows,), 0.6, device=device),
        top_ks=torch.full((num_rows,), vocab_size, dtype=torch.int32, device=device),
        top_ps=torch.ones(num_rows, device=device),
        keys=torch.arange(num_rows, device=device),
        positions=torch.full((num_rows,), 512, dtype=torch.int64, device=device),
        has_filter=False,
    )
