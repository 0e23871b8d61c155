"""The Triton kernel between the QKV product and attention: head norms, RoPE and the write to the cache."""
# ruff: noqa: ANN001, ANN202, N803 - Triton infers argument types, and compile-time constants are upper case

import torch
import triton
import triton.language as tl

from backends.qwen3.store_kvcache import HEADS_PER_PROGRAM, copy_heads, head_mask, head_offsets


@triton.jit
def _norm_rope_heads(
    source_ptr,
    target_ptr,
    first_head,
    weight_ptr,
    angles_ptr,
    eps,
    NUM_HEADS: tl.constexpr,
    HEAD_DIM: tl.constexpr,
    HEADS: tl.constexpr,
    HALF_BLOCK: tl.constexpr,
):
    # A head is handled as two halves, whose equal dimensions turn together.
    half: tl.constexpr = HEAD_DIM // 2
    dims = tl.arange(0, HALF_BLOCK)
    dims_mask = dims < half
    offsets = head_offsets(first_head, HEAD_DIM, HEADS, HALF_BLOCK)
    mask = head_mask(first_head, NUM_HEADS, half, HEADS, HALF_BLOCK)
    low = tl.load(source_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
    high = tl.load(source_ptr + half + offsets, mask=mask, other=0.0).to(tl.float32)
    scale = tl.rsqrt((tl.sum(low * low, axis=1) + tl.sum(high * high, axis=1)) / HEAD_DIM + eps)[:, None]
    low_weight = tl.load(weight_ptr + dims, mask=dims_mask, other=0.0).to(tl.float32)
    high_weight = tl.load(weight_ptr + half + dims, mask=dims_mask, other=0.0).to(tl.float32)
    low = low * scale * low_weight[None, :]
    high = high * scale * high_weight[None, :]
    cos = tl.load(angles_ptr + dims, mask=dims_mask, other=0.0)[None, :]
    sin = tl.load(angles_ptr + half + dims, mask=dims_mask, other=0.0)[None, :]
    tl.store(target_ptr + offsets, (low * cos - high * sin).to(target_ptr.dtype.element_ty), mask=mask)
    tl.store(target_ptr + half + offsets, (high * cos + low * sin).to(target_ptr.dtype.element_ty), mask=mask)


@triton.jit
def _kernel(
    qkv_ptr,
    query_ptr,
    keys_ptr,
    values_ptr,
    q_weight_ptr,
    k_weight_ptr,
    rotary_ptr,
    positions_ptr,
    slots_ptr,
    qkv_row_stride,
    eps,
    NUM_HEADS: tl.constexpr,
    NUM_KV_HEADS: tl.constexpr,
    HEAD_DIM: tl.constexpr,
    HEADS: tl.constexpr,
    BLOCK: tl.constexpr,
    HALF_BLOCK: tl.constexpr,
):
    q_programs: tl.constexpr = (NUM_HEADS + HEADS - 1) // HEADS
    kv_programs: tl.constexpr = (NUM_KV_HEADS + HEADS - 1) // HEADS
    row = tl.program_id(0).to(tl.int64)
    program = tl.program_id(1)
    source = qkv_ptr + row * qkv_row_stride
    angles = rotary_ptr + tl.load(positions_ptr + row) * HEAD_DIM
    if program < q_programs:
        target = query_ptr + row * (NUM_HEADS * HEAD_DIM)
        _norm_rope_heads(
            source, target, program * HEADS, q_weight_ptr, angles, eps, NUM_HEADS, HEAD_DIM, HEADS, HALF_BLOCK
        )
    else:
        slot = tl.load(slots_ptr + row)  # int64: slot x heads x size passes 2^31 in a large cache
        if slot >= 0:
            offset = slot * (NUM_KV_HEADS * HEAD_DIM)
            key = source + NUM_HEADS * HEAD_DIM
            value = key + NUM_KV_HEADS * HEAD_DIM
            head = (program - q_programs) * HEADS
            value_head = head - kv_programs * HEADS
            if value_head < 0:
                _norm_rope_heads(
                    key, keys_ptr + offset, head, k_weight_ptr, angles, eps, NUM_KV_HEADS, HEAD_DIM, HEADS, HALF_BLOCK
                )
            else:
                copy_heads(value, HEAD_DIM, values_ptr + offset, value_head, NUM_KV_HEADS, HEAD_DIM, HEADS, BLOCK)


def norm_rope_store(
    qkv: torch.Tensor,
    q_weight: torch.Tensor,
    k_weight: torch.Tensor,
    eps: float,
    rotary: torch.Tensor,
    positions: torch.Tensor,
    slots: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
) -> torch.Tensor:
    """See `Ops.norm_rope_store`; one program for a few heads of a row."""
    assert keys.is_contiguous()
    assert values.is_contiguous()
    assert qkv.stride(1) == 1
    num_rows, (num_kv_heads, head_dim) = qkv.shape[0], keys.shape[2:]
    num_heads = qkv.shape[1] // head_dim - 2 * num_kv_heads
    query = torch.empty(num_rows, num_heads, head_dim, dtype=qkv.dtype, device=qkv.device)
    num_programs = triton.cdiv(num_heads, HEADS_PER_PROGRAM) + 2 * triton.cdiv(num_kv_heads, HEADS_PER_PROGRAM)
    _kernel[(num_rows, num_programs)](
        qkv,
        query,
        keys,
        values,
        q_weight,
        k_weight,
        rotary,
        positions,
        slots,
        qkv.stride(0),
        eps,
        NUM_HEADS=num_heads,
        NUM_KV_HEADS=num_kv_heads,
        HEAD_DIM=head_dim,
        HEADS=HEADS_PER_PROGRAM,
        BLOCK=triton.next_power_of_2(head_dim),
        HALF_BLOCK=triton.next_power_of_2(head_dim // 2),
        num_warps=2,
    )
    return query
