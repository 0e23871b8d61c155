"""The sampler's two steps on a GPU; `torch_sampling` has the same in plain torch, which says what they must return."""
# ruff: noqa: ANN001, ANN202, N803 - Triton infers argument types, and compile-time constants are upper case

import torch
import triton
import triton.language as tl

from backends.qwen3.gumbel import LARGEST_UNIFORM, NUM_ROUNDS, SERIES_BELOW, TILE_COLUMNS, TILE_TOKENS
from backends.qwen3.sampling_inputs import SamplingInputs

_COLUMNS = tl.constexpr(TILE_COLUMNS)
_ROUNDS = tl.constexpr(NUM_ROUNDS)
_LARGEST_UNIFORM = tl.constexpr(LARGEST_UNIFORM)
_SERIES_BELOW = tl.constexpr(SERIES_BELOW)
_FLOOR_BLOCK = 4096


@triton.jit
def _gumbel(words):
    uniform = tl.minimum((words.to(tl.float32) + 0.5) * 2.3283064365386963e-10, _LARGEST_UNIFORM)
    series = uniform * (1 + uniform * (0.5 + uniform * (1 / 3 + uniform * 0.25)))
    exponential = tl.where(uniform < _SERIES_BELOW, series, -tl.log(1 - uniform))
    return -tl.log(exponential)


@triton.jit
def _score_lane(logits, tokens, num_tokens, words, temperature, floor):
    score = tl.load(logits + tokens, mask=tokens < num_tokens, other=float("-inf")).to(tl.float32)
    is_nan = score != score
    noisy = tl.where(is_nan | (score < floor), float("-inf"), score + temperature * _gumbel(words))
    return noisy, is_nan.to(tl.int32)


@triton.jit
def _keep_better(best, best_tokens, noisy, tokens):
    # Strict, so that of equal scores the earlier lane's token, which is the lower id, stays.
    is_better = noisy > best
    return tl.where(is_better, noisy, best), tl.where(is_better, tokens, best_tokens)


@triton.jit
def _best_of_tile(
    logits, row_stride, temperatures, keys, positions, floors,
    tile_best, tile_token, tile_bad, num_tokens, num_tiles,
    HAS_FLOOR: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    tile = tl.program_id(1)
    temperature = tl.load(temperatures + row)
    floor = float("-inf")
    if HAS_FLOOR:
        floor = tl.load(floors + row)
    column = tl.arange(0, _COLUMNS)
    counter = (tile * _COLUMNS + column).to(tl.uint32)
    zero = counter * 0
    position = zero + tl.load(positions + row).to(tl.uint32)
    word0, word1, word2, word3 = tl.philox(tl.load(keys + row), counter, position, zero, zero, _ROUNDS)

    logits += row * row_stride
    tokens0 = tile * (4 * _COLUMNS) + column
    tokens1 = tokens0 + _COLUMNS
    tokens2 = tokens1 + _COLUMNS
    tokens3 = tokens2 + _COLUMNS
    best, bad = _score_lane(logits, tokens0, num_tokens, word0, temperature, floor)
    noisy1, bad1 = _score_lane(logits, tokens1, num_tokens, word1, temperature, floor)
    noisy2, bad2 = _score_lane(logits, tokens2, num_tokens, word2, temperature, floor)
    noisy3, bad3 = _score_lane(logits, tokens3, num_tokens, word3, temperature, floor)
    best, token = _keep_better(best, tokens0, noisy1, tokens1)
    best, token = _keep_better(best, token, noisy2, tokens2)
    best, token = _keep_better(best, token, noisy3, tokens3)

    top = tl.max(best, axis=0)
    place = row * num_tiles + tile
    tl.store(tile_best + place, top)
    tl.store(tile_token + place, tl.min(tl.where(best == top, token, num_tokens - 1), axis=0))
    tl.store(tile_bad + place, tl.max(bad | bad1 | bad2 | bad3, axis=0))


@triton.jit
def _best_of_row(tile_best, tile_token, tile_bad, columns, num_rows, num_tiles, num_tokens, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    tile = tl.arange(0, BLOCK)
    is_tile = tile < num_tiles
    place = row * num_tiles + tile
    best = tl.load(tile_best + place, mask=is_tile, other=float("-inf"))
    token = tl.load(tile_token + place, mask=is_tile, other=num_tokens - 1)
    is_nan = tl.max(tl.load(tile_bad + place, mask=is_tile, other=0), axis=0)
    top = tl.max(best, axis=0)
    is_infinite = (top == float("inf")) | (top == float("-inf"))
    tl.store(columns + row, tl.min(tl.where(best == top, token, num_tokens - 1), axis=0))
    tl.store(columns + num_rows + row, is_nan | is_infinite.to(tl.int32))


def argmax(logits: torch.Tensor, inputs: SamplingInputs, floors: torch.Tensor | None) -> torch.Tensor:
    """Token with the largest noisy score of each row; two launches, may be captured in a CUDA graph.

    Returns:
        int32 [2, S], see `Samples`.
    """
    num_rows, num_tokens = logits.shape
    num_tiles = triton.cdiv(num_tokens, TILE_TOKENS)
    tile_best = torch.empty((num_rows, num_tiles), dtype=torch.float32, device=logits.device)
    tile_token = torch.empty((num_rows, num_tiles), dtype=torch.int32, device=logits.device)
    tile_bad = torch.empty_like(tile_token)
    _best_of_tile[(num_rows, num_tiles)](
        logits, logits.stride(0), inputs.temperatures, inputs.keys, inputs.positions,
        inputs.temperatures if floors is None else floors,
        tile_best, tile_token, tile_bad, num_tokens, num_tiles, HAS_FLOOR=floors is not None,
    )  # fmt: skip
    columns = torch.empty((2, num_rows), dtype=torch.int32, device=logits.device)
    block = triton.next_power_of_2(num_tiles)
    _best_of_row[(num_rows,)](
        tile_best, tile_token, tile_bad, columns, num_rows, num_tiles, num_tokens, BLOCK=block, num_warps=1
    )
    return columns


@triton.jit
def _rank_of(score):
    """Unsigned 32-bit numbers in the order of the floats; NaN (of a row that fails anyway) as low as -inf."""
    score = tl.where(score != score, float("-inf"), score)
    bits = score.to(tl.int32, bitcast=True)
    flip = tl.where(bits < 0, -1, -2147483648)
    return (bits ^ flip).to(tl.uint32, bitcast=True)


@triton.jit
def _float_of(rank):
    bits = rank.to(tl.int32, bitcast=True)
    flip = tl.where(bits < 0, -2147483648, -1)
    return (bits ^ flip).to(tl.float32, bitcast=True)


@triton.jit
def _mass_from(
    logits, rank, low, largest, inverse_temperature,
    NUM_TOKENS: tl.constexpr, BY_COUNT: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Tokens whose rank is at least `rank`: their number, or the weight of those that are not below `low`."""
    column = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, NUM_TOKENS, BLOCK):
        token = start + column
        is_token = token < NUM_TOKENS
        score = tl.load(logits + token, mask=is_token, other=float("-inf")).to(tl.float32)
        is_in = is_token & (_rank_of(score) >= rank)
        if BY_COUNT:
            total += tl.where(is_in, 1.0, 0.0)
        else:
            weight = tl.exp((score - largest) * inverse_temperature)
            total += tl.where(is_in & (score >= low), weight, 0.0)
    return tl.sum(total, axis=0)


@triton.jit
def _highest_rank(
    logits, wanted, low, largest, inverse_temperature,
    NUM_TOKENS: tl.constexpr, NUM_BITS: tl.constexpr, BY_COUNT: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Highest rank from which upwards there is at least `wanted` mass, found bit by bit from the top."""
    rank = tl.full((), 0, tl.uint32)
    bit = tl.full((), 2147483648, tl.uint32)
    for _ in range(NUM_BITS):
        candidate = rank | bit
        mass = _mass_from(logits, candidate, low, largest, inverse_temperature, NUM_TOKENS, BY_COUNT, BLOCK)
        rank = tl.where(mass >= wanted, candidate, rank)
        bit = bit >> 1
    return rank


@triton.jit
def _floor_of_row(
    logits, row_stride, temperatures, top_ks, top_ps, floors,
    NUM_TOKENS: tl.constexpr, NUM_BITS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    top_k = tl.load(top_ks + row)
    top_p = tl.load(top_ps + row)
    logits += row * row_stride
    floor = tl.full((), float("-inf"), tl.float32)
    if top_k < NUM_TOKENS:
        rank = _highest_rank(logits, top_k.to(tl.float32), floor, 0.0, 1.0, NUM_TOKENS, NUM_BITS, True, BLOCK)
        floor = _float_of(rank)
    if top_p < 1:
        temperature = tl.load(temperatures + row)
        inverse = 1 / tl.where(temperature > 0, temperature, 1.0)
        largest = _float_of(_highest_rank(logits, 1.0, floor, 0.0, 1.0, NUM_TOKENS, NUM_BITS, True, BLOCK))
        rank_0 = tl.full((), 0, tl.uint32)
        total = _mass_from(logits, rank_0, floor, largest, inverse, NUM_TOKENS, False, BLOCK)
        wanted = tl.maximum(top_p * total, 1e-30)  # a top_p of nearly 0 still keeps the best token
        rank = _highest_rank(logits, wanted, floor, largest, inverse, NUM_TOKENS, NUM_BITS, False, BLOCK)
        floor = tl.maximum(floor, _float_of(rank))
    tl.store(floors + row, floor)


def floors(logits: torch.Tensor, inputs: SamplingInputs) -> torch.Tensor:
    """A logit for each row such that just the tokens at or above it are kept; see `torch_sampling.floors`.

    A search over the bits of the floor instead of a sort: each of its passes reads the row from the GPU's cache, and a
    bfloat16 has only 16 bits to find. Rows that keep everything return at once.

    Returns:
        float32 [S]; of bfloat16 logits it may lie below the lowest one kept, but not at or below the next.
    """
    out = torch.empty(logits.shape[0], dtype=torch.float32, device=logits.device)
    num_bits = 16 if logits.dtype == torch.bfloat16 else 32
    _floor_of_row[(logits.shape[0],)](
        logits, logits.stride(0), inputs.temperatures, inputs.top_ks, inputs.top_ps, out,
        NUM_TOKENS=logits.shape[1], NUM_BITS=num_bits, BLOCK=_FLOOR_BLOCK, num_warps=8,
    )  # fmt: skip
    return out
