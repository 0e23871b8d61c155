"""Where the tables of a cost model have their points, chosen by what was measured."""

from collections.abc import Sequence

import numpy as np

from backends.cost_model import FloatColumn, StepColumns, larger
from backends.simulated.fitted_times import (
    DecodeAttentionTimes,
    DecodeTimes,
    FittedTimes,
    HostTimes,
    LaunchTimes,
    ProductTimes,
    PromptTimes,
    SkewTimes,
)

_CONTEXT_LIMITS = (1024.0, 4096.0, 16384.0)
"""Widths of block tables, in tokens, for which steps are captured."""
_DECODE_ROWS = (1, 2, 4, 8, 16, 24, 32, 40, 48, 64, 80, 96, 112, 128, 160, 192, 224, 256, 384, 512, 768, 1024)
_RATIOS = (1.0, 1.2, 1.4, 1.7, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 6.0, 8.0, 11.0, 16.0, 25.0, 50.0, 100.0)
MAX_SPLIT_ROWS = 24.0
"""Rows up to which decode attention may split contexts by the width of block tables."""
_ROWS_BESIDE = (1, 8, 32, 64, 128, 256, 512, 1024)
_PROMPT_TOKENS = (
    2, 16, 32, 64, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12_288, 16_384, 32_768,
)  # fmt: skip
_MAX_GRAPHS = 64


def blank_times(steps: StepColumns[FloatColumn]) -> FittedTimes:
    """Tables of zeros that suit these steps."""
    has_prompts = steps.num_prefill_seqs > 0
    tokens = larger(steps.num_prefill_tokens + steps.num_decode_seqs, steps.graph_size)
    rows, context = steps.num_decode_seqs, steps.max_context
    decode = DecodeTimes(
        products=_products(_sizes(tokens[~has_prompts])),
        attention=_attention(
            tokens[~has_prompts],
            _DECODE_ROWS,
            [limit for limit in _CONTEXT_LIMITS if _splits(context[~has_prompts], limit)],
        ),
        skew=_skew(tokens[~has_prompts]),
        sampled_row_us=0.0,
    )
    products = _products(_points(tokens[has_prompts], _PROMPT_TOKENS))
    prompts = PromptTimes(
        products=products,
        attention=_attention(rows[has_prompts & (rows > 0)], _ROWS_BESIDE, ()),
        lone_per_1k_us=(0.0,) * len(products.tokens),
        **dict.fromkeys(_PROMPT_NUMBERS, 0.0),
    )
    host = HostTimes(**dict.fromkeys(HostTimes.__slots__, 0.0))
    return FittedTimes(decode=decode, prompts=prompts, launches=LaunchTimes(**_NO_LAUNCHES), host=host)


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


def _skew(rows: FloatColumn) -> SkewTimes:
    """A band for each number of rows, as those of a graph take turns in their own way."""
    limits = (MAX_SPLIT_ROWS, *[rows for rows in _points(rows, _DECODE_ROWS) if rows > MAX_SPLIT_ROWS])
    return SkewTimes(
        ratios=_RATIOS, row_limits=limits, longest_per_1k_us=((0.0,) * len(_RATIOS),) * (len(limits) + 1)
    )


def _attention(rows: FloatColumn, candidates: Sequence[int], limits: Sequence[float]) -> DecodeAttentionTimes:
    points = _points(rows, candidates)
    table = ((0.0,) * len(points),) * (len(limits) + 1)
    return DecodeAttentionTimes(
        rows=points, context_limits=tuple(limits), call_us=table, per_1k_tokens_us=table, longest_per_1k_us=table
    )
