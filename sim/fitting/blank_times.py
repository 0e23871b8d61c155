"""Where the tables of a cost model have their points, chosen by what was measured."""

from collections.abc import Sequence

import numpy as np

from backends.cost_model import FloatColumn, StepColumns, larger
from backends.simulated.fitted_times import (
    AttentionTimes,
    DecodeTimes,
    FittedTimes,
    HostTimes,
    LaunchTimes,
    ProductTimes,
    PromptTimes,
)
from sim.fitting.top_spreads import top_spreads

_CONTEXT_LIMITS = (1024.0, 4096.0, 16384.0)
"""Widths of block tables, in tokens, for which steps are captured."""
_DECODE_ROWS = (1, 2, 4, 8, 16, 24, 32, 40, 48, 64, 80, 96, 112, 128, 160, 192, 224, 256, 384, 512, 768, 1024)
_ATTENTION_ROWS = (1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 512, 1024)
_FULL_ROWS = 33.0
"""Rows of one context that fill a GPU: a program a row and KV head, two on a multiprocessor (264 programs, 8 heads)."""
_PROMPT_TOKENS = (
    2, 16, 32, 64, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12_288, 16_384, 32_768,
)  # fmt: skip
_MAX_GRAPHS = 64


def blank_times(steps: StepColumns[FloatColumn]) -> FittedTimes:
    """Tables of zeros that suit these steps."""
    has_prompts, has_decodes = steps.num_prefill_seqs > 0, steps.num_decode_seqs > 0
    tokens = larger(steps.num_prefill_tokens + steps.num_decode_seqs, steps.graph_size)
    decode = DecodeTimes(products=_products(_sizes(tokens[~has_prompts])), sampled_row_us=0.0)
    products = _products(_points(tokens[has_prompts], _PROMPT_TOKENS))
    context = (0.0,) * len(products.tokens)
    prompts = PromptTimes(products=products, context_per_1k_us=context, **dict.fromkeys(_PROMPT_NUMBERS, 0.0))
    host = HostTimes(**dict.fromkeys(HostTimes.__slots__, 0.0))
    return FittedTimes(
        attention=_attention(steps.num_decode_seqs[has_decodes], steps.max_decode_context[has_decodes]),
        decode=decode,
        prompts=prompts,
        launches=LaunchTimes(**_NO_LAUNCHES),
        host=host,
    )


_PROMPT_NUMBERS = (
    "beside_decodes_us", "sampled_row_us", "chunk_us", "pairs_per_1m_us",
)  # fmt: skip
_NO_LAUNCHES = {"decode_us": 0.0, "prompts_us": 0.0, "mixed_us": 0.0}


def _splits(values: FloatColumn, limit: float) -> bool:
    return bool((values <= limit).any() and (values > limit).any())


def _sizes(tokens: FloatColumn) -> tuple[float, ...]:
    """Each size that was measured, as long as they are those of graphs; else those of a usual set."""
    found = np.unique(tokens)
    return tuple(found.tolist()) if 0 < len(found) <= _MAX_GRAPHS else _points(tokens, _DECODE_ROWS)


def _points(values: FloatColumn, candidates: Sequence[int]) -> tuple[float, ...]:
    """Candidates inside the range of the values, and its ends; no two so near that nothing lies between them."""
    if not len(values):
        return (1.0,)
    low, high = float(values.min()), float(values.max())
    points = [low, *[float(each) for each in candidates if low < each < high], high]
    kept = [low]
    for point, after in zip(points[1:], [*points[2:], high], strict=True):
        if point > kept[-1] and (point == high or ((values > kept[-1]) & (values < after)).any()):
            kept.append(point)
    return tuple(kept)


def _products(tokens: tuple[float, ...]) -> ProductTimes:
    return ProductTimes(tokens=tokens, time_us=(0.0,) * len(tokens))


def _attention(rows: FloatColumn, longest: FloatColumn) -> AttentionTimes:
    limits = [limit for limit in _CONTEXT_LIMITS if _splits(longest, limit)]
    points = _points(rows, _ATTENTION_ROWS)
    table = ((0.0,) * len(points),) * (len(limits) + 1)
    return AttentionTimes(
        rows=points,
        context_limits=tuple(limits),
        full_rows=_FULL_ROWS,
        top_spreads=top_spreads(points, _FULL_ROWS),
        shared_saving=0.0,
        call_us=table,
        even_us=table,
        per_1k_tokens_us=table,
        tail_per_1k_us=table,
    )
