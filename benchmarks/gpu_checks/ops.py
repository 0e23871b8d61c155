"""Every Triton operation of a layer gives what plain torch gives, in Qwen3's sizes and all dtypes."""

import os
from collections.abc import Callable, Iterator
from functools import partial

import torch

from backends.qwen3 import torch_ops
from backends.qwen3.ops import Ops
from backends.qwen3.rotary import rotary_table
from backends.simulated import ModelSheet, load_model_sheet
from benchmarks.gpu_checks.case import Case, NotHereError, Verdict
from benchmarks.gpu_checks.compare import largest_error
from benchmarks.gpu_checks.setup import Setup

# About two roundings: both compute in float32 and round once, but not always to the same side.
_TOLERANCE = {torch.float32: 1e-5, torch.float16: 1e-3, torch.bfloat16: 1e-2}
_NUM_ROWS = (1, 2, 17, 300)
_EPS = 1e-6
_PLAIN = torch_ops.TorchOps()

Errors = Iterator[float]


def cases(setup: Setup) -> Iterator[Case]:
    """Each operation for each size of model."""
    names = ("Qwen3-0.6B", "Qwen3-8B", "Qwen3-32B") if setup.is_cuda else (setup.model,)
    for name in names:
        sheet = load_model_sheet(name)
        for compare in (_add_rms_norm, _silu_mul, _norm_rope_store, _store_kvcache):
            yield Case(f"{compare.__name__[1:]} {sheet.name}", partial(_all_dtypes, setup, compare, sheet))
    yield Case("norm_rope_store past 2^31 elements", partial(_far_norm_rope_store, setup))
    yield Case("store_kvcache past 2^31 elements", partial(_far_store_kvcache, setup))


def _all_dtypes(
    setup: Setup, compare: Callable[[Ops, ModelSheet, torch.Generator, torch.dtype], Errors], sheet: ModelSheet
) -> Verdict:
    ops, random = _triton_ops(setup), torch.Generator(setup.device).manual_seed(1)
    worst = {dtype: max(compare(ops, sheet, random, dtype)) for dtype in _TOLERANCE}
    is_ok = all(error <= _TOLERANCE[dtype] for dtype, error in worst.items())
    return Verdict(is_ok, {str(dtype).removeprefix("torch."): error for dtype, error in worst.items()})


def _triton_ops(setup: Setup) -> Ops:
    if not setup.is_cuda and os.environ.get("TRITON_INTERPRET") != "1":
        raise NotHereError("skipped: needs CUDA, or TRITON_INTERPRET=1")
    from backends.qwen3.triton_ops import TritonOps  # Triton exists only beside a GPU

    ops: Ops = TritonOps()
    return ops


def _normal(random: torch.Generator, dtype: torch.dtype, *shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=random, device=random.device).to(dtype)


def _add_rms_norm(ops: Ops, sheet: ModelSheet, random: torch.Generator, dtype: torch.dtype) -> Errors:
    for num_rows in _NUM_ROWS:
        x, residual = (_normal(random, dtype, num_rows, sheet.hidden_size) for _ in range(2))
        weight, streams = _normal(random, dtype, sheet.hidden_size), [residual.clone(), residual.clone()]
        yield largest_error(
            ops.add_rms_norm(x, streams[0], weight, _EPS), _PLAIN.add_rms_norm(x, streams[1], weight, _EPS)
        )
        yield largest_error(*streams)
        yield largest_error(*(each.add_rms_norm(None, residual, weight, _EPS) for each in (ops, _PLAIN)))


def _silu_mul(ops: Ops, sheet: ModelSheet, random: torch.Generator, dtype: torch.dtype) -> Errors:
    for num_rows in _NUM_ROWS:
        gate_up = _normal(random, dtype, num_rows, 2 * sheet.intermediate_size) * 8
        yield largest_error(ops.silu_mul(gate_up), _PLAIN.silu_mul(gate_up))


def _norm_rope_store(ops: Ops, sheet: ModelSheet, random: torch.Generator, dtype: torch.dtype) -> Errors:
    width = (sheet.num_heads + 2 * sheet.num_kv_heads) * sheet.head_dim
    rotary = rotary_table(sheet.head_dim, 1e6, sheet.max_model_len, random.device)
    weights = [_normal(random, dtype, sheet.head_dim) for _ in range(2)]
    for num_rows in _NUM_ROWS:
        qkv = _normal(random, dtype, num_rows, width + 64)[:, :width]  # rows are strided
        positions = torch.randint(sheet.max_model_len, (num_rows,), generator=random, device=random.device)
        slots, results = _slots(num_rows, random), []
        for each in (ops, _PLAIN):
            keys, values = (_empty_cache(sheet, dtype, random.device) for _ in range(2))
            query = each.norm_rope_store(qkv, *weights, _EPS, rotary, positions, slots, keys, values)
            results.append((query, keys, values))
        yield from (largest_error(*pair) for pair in zip(*results, strict=True))


def _store_kvcache(_: Ops, sheet: ModelSheet, random: torch.Generator, dtype: torch.dtype) -> Errors:
    """An exact copy; rows and heads are strided, and the last row has no slot."""
    from backends.qwen3.store_kvcache import store_kvcache

    for num_rows in _NUM_ROWS:
        packed = _normal(random, dtype, num_rows + 1, sheet.num_kv_heads, 2 * sheet.head_dim)
        key, value = packed[..., : sheet.head_dim], packed[..., sheet.head_dim :]
        slots, results = _slots(num_rows, random), []
        for store in (store_kvcache, torch_ops.store_kvcache):
            caches = [_empty_cache(sheet, dtype, random.device) for _ in range(2)]
            store(key, value, *caches, slots)
            results.append(caches)
        for ours, plain in zip(*results, strict=True):
            yield 0.0 if torch.equal(ours.nan_to_num(9e4), plain.nan_to_num(9e4)) else float("inf")


def _slots(num_rows: int, random: torch.Generator) -> torch.Tensor:
    """Different slots, the first and the last of the cache among them, and padding."""
    slots = torch.randperm(510, generator=random, device=random.device)[:num_rows] + 1
    if num_rows > 3:
        slots[:3] = slots.new_tensor([0, 511, -1])
    return slots


def _empty_cache(sheet: ModelSheet, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    return torch.full((32, 16, sheet.num_kv_heads, sheet.head_dim), torch.nan, dtype=dtype, device=device)


def _far_caches(setup: Setup) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Caches of 2^31 elements and one block more, and the very last slot."""
    setup.need_cuda()
    num_blocks = 2**31 // (16 * 8 * 128) + 1
    keys, values = (torch.zeros(num_blocks, 16, 8, 128, dtype=torch.bfloat16, device=setup.device) for _ in range(2))
    return keys, values, torch.tensor([num_blocks * 16 - 1], device=setup.device)


def _far_norm_rope_store(setup: Setup) -> Verdict:
    keys, values, slots = _far_caches(setup)
    sheet, random = load_model_sheet(setup.model), torch.Generator(setup.device).manual_seed(2)
    qkv = _normal(random, torch.bfloat16, 1, (sheet.num_heads + 16) * 128)
    weights, rotary = [_normal(random, torch.bfloat16, 128) for _ in range(2)], rotary_table(128, 1e6, 8, keys.device)
    near = [torch.zeros(1, 16, 8, 128, dtype=torch.bfloat16, device=setup.device) for _ in range(2)]
    position, ops = slots.new_tensor([7]), _triton_ops(setup)
    ops.norm_rope_store(qkv, *weights, _EPS, rotary, position, slots, keys, values)
    _PLAIN.norm_rope_store(qkv, *weights, _EPS, rotary, position, slots.new_tensor([15]), *near)
    error = max(largest_error(far[-1], near_one[0]) for far, near_one in zip((keys, values), near, strict=True))
    is_elsewhere = bool(keys[:-1].any()) or bool(values[:-1].any())
    return Verdict(error <= _TOLERANCE[torch.bfloat16] and not is_elsewhere, {"error": error, "strayed": is_elsewhere})


def _far_store_kvcache(setup: Setup) -> Verdict:
    keys, values, slots = _far_caches(setup)
    from backends.qwen3.store_kvcache import store_kvcache

    key, value = torch.ones(2, 1, 8, 128, dtype=torch.bfloat16, device=setup.device)
    store_kvcache(key, 2 * value, keys, values, slots)
    sums = [int(cache[-1, -1].sum()) for cache in (keys, values)]
    is_elsewhere = bool(keys[:-1].any()) or bool(values[:-1].any())
    return Verdict(sums == [1024, 2048] and not is_elsewhere, {"sum": sums[0], "strayed": is_elsewhere})
