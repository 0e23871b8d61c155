"""The checks notice what they are for: each with a fault planted into what it checks."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor

from backends.qwen3.attention import Attention, PagedAttention
from backends.qwen3.attention_torch import TorchKernels
from backends.qwen3.decode_buffers import DecodeBuffers
from backends.qwen3.forward_inputs import ForwardInputs
from backends.qwen3.mixed_buffers import MixedBuffers
from backends.qwen3.sampling_rows import SamplingRows
from backends.qwen3.step_command import StepCommand
from backends.qwen3.step_layout import StepLayout
from benchmarks.gpu_checks import attention_cases, graph_twin, graphs
from benchmarks.gpu_checks.checkpoints import Reference, save_random
from benchmarks.gpu_checks.greedy_margins import GreedyJudge
from benchmarks.gpu_checks.parity import small_config
from benchmarks.gpu_checks.setup import Setup

GOOD: Callable[..., Tensor] = PagedAttention(TorchKernels())


@pytest.fixture
def setup(tmp_path: Path) -> Setup:
    return Setup("cpu", tmp_path)


def forgets_a_token(query: Tensor, keys: Tensor, values: Tensor, inputs: ForwardInputs) -> Tensor:
    return GOOD(query, keys, values, replace(inputs, decode_context_lens=(inputs.decode_context_lens - 1).clamp(min=0)))


def reads_a_wrong_block(query: Tensor, keys: Tensor, values: Tensor, inputs: ForwardInputs) -> Tensor:
    tables = inputs.decode_block_tables.clone()
    if len(tables):
        tables[-1, 0] = tables[0, 0]
    return GOOD(query, keys, values, replace(inputs, decode_block_tables=tables))


def multiplies_what_it_must_not_see(query: Tensor, keys: Tensor, values: Tensor, inputs: ForwardInputs) -> Tensor:
    seen = keys[inputs.decode_block_tables.long()].sum() * 0  # 0 x NaN is NaN
    return GOOD(query, keys, values, inputs) + seen


def leaves_padding_undefined(query: Tensor, keys: Tensor, values: Tensor, inputs: ForwardInputs) -> Tensor:
    out = GOOD(query, keys, values, inputs)
    out[: inputs.num_decodes][inputs.decode_context_lens == 0] = 0.5
    return out


def failed_cases(setup: Setup, monkeypatch: pytest.MonkeyPatch, attention: Attention) -> set[str]:
    monkeypatch.setattr(attention_cases, "attention_of", lambda *_: attention)
    kind = setup.usual_attention
    return {
        case.name.partition(": ")[2] for case in attention_cases.attention_cases(setup, kind) if not case.run().is_ok
    }


GRAPH = "graph with rows of context 0"
NAN_PADDING = "mixed, NaN where tables are padded"


@pytest.mark.parametrize(
    ("attention", "noticed_by"),
    [
        (GOOD, set()),
        (forgets_a_token, {"decode", "mixed", "decode long", GRAPH}),
        (reads_a_wrong_block, {"decode", "decode long"}),
        (multiplies_what_it_must_not_see, {NAN_PADDING}),
        (leaves_padding_undefined, {GRAPH}),
    ],
)
def test_attention(setup: Setup, monkeypatch: pytest.MonkeyPatch, attention: Attention, noticed_by: set[str]) -> None:
    failed = failed_cases(setup, monkeypatch, attention)
    assert noticed_by <= failed
    assert bool(failed) == bool(noticed_by)


def failed_graph_cases(setup: Setup) -> set[str]:
    cases = graphs.graph_cases(setup, setup.usual_attention, (1, 2))
    return {case.name.partition(": ")[2] for case in cases if not case.run().is_ok}


def test_graphs(setup: Setup, monkeypatch: pytest.MonkeyPatch) -> None:
    assert failed_graph_cases(setup) == set()
    fill, logits_rows = DecodeBuffers.fill, MixedBuffers.logits_rows

    def fill_late(self: DecodeBuffers, command: StepCommand, size: int, sampling: SamplingRows | None) -> None:
        fill(self, replace(command, first_positions=command.first_positions.clip(max=16)), size, sampling)

    def other_rows(self: MixedBuffers, layout: StepLayout) -> Tensor:
        rows: Tensor = logits_rows(self, layout)
        return rows.flip(0)

    monkeypatch.setattr(DecodeBuffers, "fill", fill_late)
    monkeypatch.setattr(MixedBuffers, "logits_rows", other_rows)
    assert failed_graph_cases(setup) == {"2 sizes", "tables of several widths", "steps with chunks"}


def test_tables_of_another_width_that_are_read_wrong(setup: Setup, monkeypatch: pytest.MonkeyPatch) -> None:
    def splits_wrong(query: Tensor, keys: Tensor, values: Tensor, inputs: ForwardInputs) -> Tensor:
        lens = inputs.decode_context_lens
        if inputs.decode_block_tables.shape[1] > 4:
            lens = lens - lens // 8
        return GOOD(query, keys, values, replace(inputs, decode_context_lens=lens))

    monkeypatch.setattr(graph_twin, "attention_of", lambda *_: splits_wrong)
    assert "one step in all widths" in failed_graph_cases(setup)


def test_greedy_outputs(setup: Setup) -> None:
    config = replace(small_config(setup), dtype=torch.bfloat16)
    folder = save_random(setup.scratch / "model", config, "cpu")
    exact, prompt = Reference(folder, "cpu", torch.float32), [5, 6, 7]
    output: list[int] = []
    for _ in range(6):
        output.append(int(exact.logits(prompt + output)[-1].argmax()))
    judge = GreedyJudge(folder, "cpu", torch.bfloat16)
    good = judge.verdict([(prompt, output)])
    assert good.is_ok
    assert good.numbers["equal"] == 1.0
    assert not judge.verdict([(prompt, [*output[:3], (output[3] + 1) % 509, *output[4:]])]).is_ok
