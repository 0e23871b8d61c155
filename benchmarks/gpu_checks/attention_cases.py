"""An attention gives what plain torch gives in float32, on paged caches with traps."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import torch

from backends.qwen3.attention import Attention, PagedAttention
from backends.qwen3.attention_choice import choose_attention
from backends.qwen3.attention_torch import TorchKernels
from backends.qwen3.config import DTYPES
from backends.qwen3.errors import ModelError
from backends.qwen3.forward_inputs import ForwardInputs
from backends.simulated import load_model_sheet
from benchmarks.gpu_checks.attention_kind import AttentionKind
from benchmarks.gpu_checks.capture import capture_for
from benchmarks.gpu_checks.case import Case, NotHereError, Verdict
from benchmarks.gpu_checks.compare import largest_row_error
from benchmarks.gpu_checks.setup import Setup
from benchmarks.gpu_checks.step_rows import Row, StepRows

_TOLERANCE = {"bfloat16": 1.5e-2, "float16": 3e-3}
_SHORT = (*range(1, 18), 127, 128, 129, 255, 256, 257)
_SHORT_CHUNKS = ((0, 2), (0, 17), (3, 17), (0, 127), (100, 129), (0, 256), (200, 257), (250, 700))
Spans = tuple[tuple[int, int], ...]


def attention_cases(setup: Setup, kind: AttentionKind) -> Iterator[Case]:
    """Decode rows and chunks, apart and mixed, short and long, and what a graph adds."""
    decodes: Spans = tuple([(context - 1, context) for context in _SHORT])
    many: Spans = tuple([(context - 1, context) for context in range(900, 1156)])
    long_decodes, long_chunks = _long(setup)
    works = {
        "decode": decodes,
        "chunks": _SHORT_CHUNKS,
        "mixed": decodes + _SHORT_CHUNKS,
        "decode 256 rows": many if setup.is_cuda else many[:3],
        "decode long": long_decodes,
        "decode 1 long row": long_decodes[:1],
        "chunks long": long_chunks,
        "mixed long": long_decodes + long_chunks,
    }
    for name, spans in works.items():
        yield Case(f"{kind}: {name}", partial(_equals_torch, setup, kind, spans))
    nan_padding = partial(_equals_torch, setup, kind, decodes + _SHORT_CHUNKS, has_nan_padding=True)
    yield Case(f"{kind}: mixed, NaN where tables are padded", nan_padding)
    yield Case(f"{kind}: graph with rows of context 0", partial(_in_a_graph, setup, kind, decodes))


def attention_of(setup: Setup, kind: AttentionKind) -> Attention:
    """The attention; plain torch when the checks are only tried.

    Raises:
        NotHereError: it cannot run here.
    """
    sheet = load_model_sheet(setup.model)
    override = kind.name if setup.is_cuda else "torch"
    try:
        choice = choose_attention(
            device=torch.device(setup.device),
            dtype=DTYPES[kind.dtype_name],
            block_size=kind.block_size,
            head_dim=sheet.head_dim,
            override=override,
        )
    except ModelError as error:
        raise NotHereError(str(error)) from None
    attention: Attention = choice.attention
    return attention


@dataclass(frozen=True, slots=True)
class _Problem:
    query: torch.Tensor
    keys: torch.Tensor
    values: torch.Tensor
    inputs: ForwardInputs

    def solve(self, attention: Attention) -> torch.Tensor:
        out: torch.Tensor = attention(self.query, self.keys, self.values, self.inputs)
        return out

    def expected(self) -> torch.Tensor:
        """By plain torch, from the same rounded numbers, in float32."""
        query, keys, values = self.query.float(), self.keys.float(), self.values.float()
        out: torch.Tensor = PagedAttention(TorchKernels())(query, keys, values, self.inputs)
        return out


def _long(setup: Setup) -> tuple[Spans, Spans]:
    if setup.is_cuda:
        return ((39_999, 40_000), (4095, 4096), (4096, 4097)), ((4000, 4096), (39_700, 40_000))
    return ((399, 400), (95, 96)), ((300, 400),)


def _problem(setup: Setup, kind: AttentionKind, spans: Spans, *, has_nan_padding: bool = False) -> _Problem:
    """Random numbers everywhere, so that what is read in vain shows; NaN in blocks that nobody owns.

    Block 0, which tables are padded with, is finite unless asked for.
    """
    sheet, random = load_model_sheet(setup.model), torch.Generator(setup.device).manual_seed(len(spans))
    steps = StepRows([[0] * end for _, end in spans], block_size=kind.block_size)
    inputs = steps.inputs([Row(seat, *span) for seat, span in enumerate(spans)], torch.device(setup.device))

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=random, device=setup.device).to(DTYPES[kind.dtype_name])

    cache_shape = (steps.num_blocks, kind.block_size, sheet.num_kv_heads, sheet.head_dim)
    keys, values = normal(*cache_shape), normal(*cache_shape)
    for cache in (keys, values):
        cache[steps.free_blocks[0 if has_nan_padding else 1 :]] = torch.nan
    return _Problem(normal(inputs.num_tokens, sheet.num_heads, sheet.head_dim), keys, values, inputs)


def _equals_torch(setup: Setup, kind: AttentionKind, spans: Spans, *, has_nan_padding: bool = False) -> Verdict:
    attention = attention_of(setup, kind)
    problem = _problem(setup, kind, spans, has_nan_padding=has_nan_padding)
    error = largest_row_error(problem.solve(attention), problem.expected())
    return Verdict(error <= _TOLERANCE[kind.dtype_name], {"error": error})


def _in_a_graph(setup: Setup, kind: AttentionKind, spans: Spans) -> Verdict:
    """Captured with contexts of 0, replayed with real ones and with most or all rows at 0: those must be zeros."""
    attention, problem = attention_of(setup, kind), _problem(setup, kind, spans)
    lens, out = problem.inputs.decode_context_lens, torch.full_like(problem.query, torch.nan)
    real, expected = lens.clone(), problem.expected()
    lens.zero_()

    def run() -> None:
        out.copy_(problem.solve(attention))

    replay, errors = capture_for(is_cuda=setup.is_cuda)(run), {}
    for name, one_in in (("full", 1), ("third", 3), ("none", 10**9), ("full_again", 1)):
        is_kept = torch.arange(1, len(lens) + 1, device=lens.device) % one_in == 0
        lens.copy_(torch.where(is_kept, real, 0))
        replay()
        errors[name] = largest_row_error(out, torch.where(is_kept[:, None, None], expected, 0))
    return Verdict(max(errors.values()) <= _TOLERANCE[kind.dtype_name], errors)
