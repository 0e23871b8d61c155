"""The Triton kernels equal plain torch, in Triton's interpreter: run again in a process where it is switched on."""

import os
import subprocess
import sys

import pytest
import torch

from backends.qwen3 import torch_ops
from backends.qwen3.attention import PagedAttention
from backends.qwen3.attention_torch import TorchKernels
from backends.qwen3.config import Qwen3Config
from backends.qwen3.group import SingleRank
from backends.qwen3.loader import random_model
from backends.qwen3.rotary import rotary_table
from tests.qwen3.tiny_model import CPU, PADDING, Row, make_inputs, poisoned_cache

pytest.importorskip("triton")
IS_INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
interpreted = pytest.mark.skipif(not IS_INTERPRETED, reason="runs in the process that interprets Triton")
# About one rounding; the interpreter cuts to bfloat16 where the GPU rounds.
TOLERANCE = {torch.float32: 2e-6, torch.float16: 2e-3, torch.bfloat16: 1.6e-2}
PLAIN = torch_ops.TorchOps()


@pytest.fixture
def kernels():
    from backends.qwen3.triton_ops import TritonOps  # its kernels are bound to the interpreter when imported

    return TritonOps()


@pytest.fixture
def random():
    return torch.Generator().manual_seed(3)


def assert_equal(ours, plain):
    assert ours.dtype == plain.dtype
    torch.testing.assert_close(ours, plain, rtol=TOLERANCE[ours.dtype], atol=TOLERANCE[ours.dtype], equal_nan=True)


@pytest.mark.skipif(IS_INTERPRETED, reason="would start itself again")
def test_kernels_in_the_interpreter():
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__]
    done = subprocess.run(command, env=os.environ | {"TRITON_INTERPRET": "1"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout


@interpreted
@pytest.mark.parametrize(("size", "dtype"), [(64, torch.float32), (100, torch.float16), (100, torch.bfloat16)])
def test_add_rms_norm(kernels, random, size, dtype):
    x, residual, weight = (torch.randn(*shape, generator=random).to(dtype) for shape in ((5, size), (5, size), (size,)))
    stream = residual.clone()
    assert_equal(kernels.add_rms_norm(x, stream, weight, 1e-6), PLAIN.add_rms_norm(x, residual, weight, 1e-6))
    assert_equal(stream, residual)


@interpreted
def test_rms_norm_alone_leaves_the_stream(kernels, random):
    residual, weight = torch.randn(3, 40, generator=random), torch.randn(40, generator=random)
    before = residual.clone()
    assert_equal(kernels.add_rms_norm(None, residual, weight, 1e-6), PLAIN.add_rms_norm(None, before, weight, 1e-6))
    assert torch.equal(residual, before)


@interpreted
@pytest.mark.parametrize(("size", "dtype"), [(64, torch.float32), (1100, torch.float16), (100, torch.bfloat16)])
def test_silu_mul(kernels, random, size, dtype):
    gate_up = (torch.randn(3, 2 * size, generator=random) * 20).to(dtype)
    assert_equal(kernels.silu_mul(gate_up), PLAIN.silu_mul(gate_up))


@interpreted
@pytest.mark.parametrize(
    ("num_heads", "num_kv_heads", "head_dim", "dtype"),
    [
        (8, 4, 16, torch.float16),
        (5, 1, 24, torch.float32),
        (6, 6, 128, torch.bfloat16),
    ],
)
def test_norm_rope_store(kernels, random, num_heads, num_kv_heads, head_dim, dtype):
    width = (num_heads + 2 * num_kv_heads) * head_dim
    qkv = torch.randn(4, width + 7, generator=random).to(dtype)[:, :width]  # rows are strided
    weights = [torch.rand(head_dim, generator=random).add(0.5).to(dtype) for _ in range(2)]
    rotary = rotary_table(head_dim, 1e6, 50, CPU)
    positions, slots = torch.tensor([49, 0, 7, 8]), torch.tensor([23, 0, -1, 6])
    results = []
    for ops in (kernels, PLAIN):
        keys, values = (torch.full((3, 8, num_kv_heads, head_dim), torch.nan, dtype=dtype) for _ in range(2))
        query = ops.norm_rope_store(qkv, *weights, 1e-6, rotary, positions, slots, keys, values)
        assert query.is_contiguous()
        results.append((query, keys, values))
    for ours, plain in zip(*results, strict=True):
        assert_equal(ours, plain)
    is_written = ~results[0][1].flatten(0, 1).isnan().all(-1).all(-1)
    assert is_written.nonzero().flatten().tolist() == [0, 6, 23]


@interpreted
@pytest.mark.parametrize(
    ("num_heads", "head_dim", "dtype"),
    [(2, 16, torch.float32), (5, 24, torch.bfloat16), (1, 80, torch.float16), (8, 128, torch.bfloat16)],
)
def test_store_kvcache_skips_padding_and_takes_strided_rows(random, num_heads, head_dim, dtype):
    from backends.qwen3.store_kvcache import store_kvcache

    packed = torch.randn(5, num_heads, 2 * head_dim, generator=random).to(dtype)  # keys and values by head
    key, value = packed.split(head_dim, dim=-1)
    slots = torch.tensor([31, -1, 4, -7])  # fewer than rows: the last row is not written
    caches = [[torch.full((2, 16, num_heads, head_dim), torch.nan, dtype=dtype) for _ in range(2)] for _ in range(2)]
    store_kvcache(key, value, *caches[0], slots)
    torch_ops.store_kvcache(key, value, *caches[1], slots)
    for ours, plain in zip(*caches, strict=True):
        assert torch.equal(ours.nan_to_num(9e4), plain.nan_to_num(9e4))
    assert torch.equal(caches[0][0][0, 4], key[2])
    assert torch.equal(caches[0][1][1, 15], value[0])


@interpreted
def test_store_kvcache_reaches_past_two_to_the_31():
    from backends.qwen3.store_kvcache import store_kvcache

    num_slots, size = 2**24 + 16, 128
    cache = torch.empty(num_slots // 16, 16, 1, size, dtype=torch.int8)  # 2 GiB, of which only one page is touched
    row = torch.arange(size, dtype=torch.int8).view(1, 1, size)
    store_kvcache(row, row, cache, cache, torch.tensor([num_slots - 1]))
    assert torch.equal(cache[-1, -1, 0], row[0, 0])


@interpreted
def test_a_model_of_kernels_equals_a_model_of_torch(kernels):
    config = Qwen3Config(
        vocab_size=50, hidden_size=24, intermediate_size=40, num_hidden_layers=2, num_attention_heads=3,
        num_key_value_heads=1, head_dim=16, max_position_embeddings=64, dtype=torch.float32,
    )  # fmt: skip
    rows = [Row([3, 4, 5, 6], 0, 4, [1]), PADDING, Row([9] * 20, 0, 20, [2, 0])]
    logits = []
    for ops in (kernels, PLAIN):
        model = random_model(config, SingleRank(), device=CPU, ops=ops)
        cache = poisoned_cache(config, num_blocks=3, block_size=16)
        inputs = make_inputs([rows[0]], 16)
        hidden = [model(inputs, cache, PagedAttention(TorchKernels()))]
        inputs = make_inputs([Row([3, 4, 5, 6, 7], 4, 5, [1]), *rows[1:]], 16, logits_rows=[0, 1, 21])
        hidden.append(model(inputs, cache, PagedAttention(TorchKernels())))
        logits.append(model.logits(torch.cat(hidden)))
    assert_equal(*logits)
    assert logits[0].isfinite().all()
