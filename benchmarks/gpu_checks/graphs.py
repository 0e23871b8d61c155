"""Decode steps in captured graphs give what the same steps give eager, at every captured size."""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise

import torch

from backends.graph_sizes import graph_sizes
from backends.qwen3.cuda_graphs import DecodeGraphs
from backends.qwen3.decode_buffers import DecodeBuffers
from backends.qwen3.forward_inputs import ForwardInputs
from backends.qwen3.group import SingleRank
from backends.qwen3.loader import random_model
from backends.qwen3.named_config import named_config
from benchmarks.gpu_checks.attention_cases import attention_of
from benchmarks.gpu_checks.attention_kind import AttentionKind
from benchmarks.gpu_checks.capture import capture_for
from benchmarks.gpu_checks.case import Case, Verdict
from benchmarks.gpu_checks.compare import largest_row_error
from benchmarks.gpu_checks.setup import Setup
from benchmarks.gpu_checks.step_rows import Row
from benchmarks.gpu_checks.stepper import Stepper

# Other shapes let a library pick another kernel, so results are near but not equal.
_TOLERANCE = 6e-2
_LONGEST = 2100


def cases(setup: Setup) -> Iterator[Case]:
    """All sizes for 256 rows; on a CPU a few."""
    sizes = graph_sizes(256 if setup.is_cuda else 4)
    yield from graph_cases(setup, setup.usual_attention, sizes)


def graph_cases(setup: Setup, kind: AttentionKind, sizes: Sequence[int]) -> Iterator[Case]:
    """Every size full and as empty as it can be; then contexts that need wide, narrow and wide tables in turn."""
    yield Case(f"{kind}: {len(sizes)} sizes", partial(_all_sizes, setup, kind, sizes))
    yield Case(f"{kind}: tables of several widths", partial(_several_widths, setup, kind))


class _Twin:
    """One model on one cache of random numbers, with and without graphs."""

    def __init__(self, setup: Setup, kind: AttentionKind, sizes: Sequence[int], contexts: Sequence[int]) -> None:
        device = torch.device(setup.device)
        config, attention = named_config(setup.model), attention_of(setup, kind)
        self._model = random_model(config, SingleRank(), device=device)
        sequences = [[(7 * i + seat) % config.vocab_size for i in range(end)] for seat, end in enumerate(contexts)]
        self._stepper = Stepper(self._model, attention, sequences, block_size=kind.block_size, device=device)
        self._device, cache = device, self._stepper.kv_cache
        for tensor in (*cache.keys, *cache.values):
            tensor.normal_(std=2)  # so that attention picks few tokens, and a wrong block shows
            tensor[self._stepper.steps.free_blocks[1:]] = torch.nan
        rows, largest = self._stepper.steps.rows, max(sizes)
        width = rows.block_tables.shape[1] + 3

        def forward(inputs: ForwardInputs) -> torch.Tensor:
            hidden: torch.Tensor = self._model(inputs, cache, attention)
            return hidden

        self._forward = forward
        self._graphs = DecodeGraphs(
            forward,
            DecodeBuffers(rows, max_rows=largest, width=width, device=device),
            torch.zeros((largest, config.hidden_size), dtype=config.dtype, device=device),
            sizes,
            capture_for(is_cuda=setup.is_cuda),
        )

    def error(self, contexts: Sequence[int], size: int) -> float:
        """Of the final hidden states of one decode step, one row a context, which must run in the graph `size`."""
        rows = [Row(seat, context - 1, context) for seat, context in enumerate(contexts)]
        command = self._stepper.steps.command(rows)
        assert self._graphs.size_for(command) == size, f"{len(rows)} rows run in {self._graphs.size_for(command)}"
        eager = self._forward(self._stepper.steps.inputs(rows, self._device)).clone()
        self._graphs.prepare(command, size, None)
        return largest_row_error(self._graphs.run(len(rows), size), eager)


def _all_sizes(setup: Setup, kind: AttentionKind, sizes: Sequence[int]) -> Verdict:
    contexts = [1 + 97 * seat % (600 if setup.is_cuda else 60) for seat in range(max(sizes))]
    twin, errors = _Twin(setup, kind, sizes, contexts), {}
    for smaller, size in pairwise((0, *sizes)):
        for num_rows in {smaller + 1, size}:
            errors[num_rows] = twin.error(contexts[:num_rows], size)
    worst = max(errors, key=lambda num_rows: errors[num_rows])
    return Verdict(errors[worst] <= _TOLERANCE, {"error": errors[worst], "rows": worst, "steps": len(errors)})


def _several_widths(setup: Setup, kind: AttentionKind) -> Verdict:
    longest = _LONGEST if setup.is_cuda else 100
    twin = _Twin(setup, kind, (8,), [longest] * 6)
    errors = {}
    for name, contexts in {
        "narrow": [1, 2, 3, 15, 16],
        "wide": [longest - 5 * i for i in range(6)],
        "mixed": [3, longest, 17, longest // 2, 40, 9],
        "narrow_again": [5, 6, 7],
    }.items():
        errors[name] = twin.error(contexts, 8)
    return Verdict(max(errors.values()) <= _TOLERANCE, errors)
