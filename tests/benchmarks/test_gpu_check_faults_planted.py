"""The checks notice what they are for: each with a fault planted into what it checks."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor

from backends.graph_table import GraphTable
from backends.qwen3.attention import Attention, PagedAttention
from backends.qwen3.attention_torch import TorchKernels
from backends.qwen3.decode_buffers import DecodeBuffers
from backends.qwen3.forward_inputs import ForwardInputs
from backends.qwen3.mixed_buffers import MixedBuffers
from backends.qwen3.model import Qwen3Model
from backends.qwen3.sampling_rows import SamplingRows
from backends.qwen3.step_command import StepCommand
from backends.qwen3.step_layout import StepLayout
from benchmarks.gpu_checks import attention_cases, faults, graph_twin, graphs
from benchmarks.gpu_checks.checkpoints import Reference, save_random
from benchmarks.gpu_checks.greedy_margins import GreedyJudge
from benchmarks.gpu_checks.parity import small_config
from benchmarks.gpu_checks.setup import Setup
from benchmarks.gpu_checks.step_rows import Row

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


def test_tables_of_eager_and_captured_steps_are_equally_wide_and_wider_than_any_sequence(setup: Setup) -> None:
    twin = graph_twin.GraphTwin(setup, setup.usual_attention, GraphTable((2,)), [100, 30])
    widths = []
    for contexts in ([17, 5], [100, 30]):  # 2 and 7 blocks of 16
        rows = [Row(seat, context - 1, context) for seat, context in enumerate(contexts)]
        captured, size = twin.captured(rows)
        assert torch.equal(captured, twin.on_the_same_inputs(rows, size))
        widths.append(twin.eager_inputs(rows).decode_block_tables.shape[1])
    assert widths == [2, twin.full_width] == [2, 10]


@contextmanager
def all_steps_run_out_of_memory(_: int) -> Iterator[None]:
    def forward(*_: object) -> Tensor:
        raise torch.OutOfMemoryError("CUDA out of memory")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Qwen3Model, "forward", forward)
        yield


@pytest.mark.parametrize(("taking", "is_noticed"), [(all_steps_run_out_of_memory, True), (nullcontext, False)])
def test_no_memory_in_a_step(
    setup: Setup, monkeypatch: pytest.MonkeyPatch, taking: Callable[[int], object], is_noticed: bool
) -> None:
    monkeypatch.setattr(Setup, "need_cuda", lambda _: None)
    monkeypatch.setattr(faults, "all_taken_but", taking)
    (case,) = [case for case in faults.cases(setup) if case.name == "no memory in a step"]
    verdict = case.run()
    assert verdict.is_ok is is_noticed
    assert verdict.numbers["afterwards"] == "length"


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
