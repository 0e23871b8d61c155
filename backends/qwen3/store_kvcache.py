"""The Triton kernel that writes keys and values into the paged cache."""
# ruff: noqa: ANN001, ANN201, ANN202, N803 - Triton infers argument types, and compile-time constants are upper case

import torch
import triton
import triton.language as tl

HEADS_PER_PROGRAM = 4


@triton.jit
def head_offsets(first_head, head_stride, HEADS: tl.constexpr, BLOCK: tl.constexpr):
    """Offsets of a tile, heads by dimensions; small, so 32 bits. Rows and slots are added in 64 bits."""
    return (first_head + tl.arange(0, HEADS))[:, None] * head_stride + tl.arange(0, BLOCK)[None, :]


@triton.jit
def head_mask(first_head, num_heads, size, HEADS: tl.constexpr, BLOCK: tl.constexpr):
    """Which entries of a tile exist: heads below `num_heads`, dimensions below `size`."""
    return ((first_head + tl.arange(0, HEADS))[:, None] < num_heads) & (tl.arange(0, BLOCK)[None, :] < size)


@triton.jit
def copy_heads(
    source_ptr,
    source_head_stride,
    target_ptr,
    first_head,
    NUM_HEADS: tl.constexpr,
    HEAD_DIM: tl.constexpr,
    HEADS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Copy a few heads of one row to one slot, where heads are contiguous."""
    mask = head_mask(first_head, NUM_HEADS, HEAD_DIM, HEADS, BLOCK)
    tile = tl.load(source_ptr + head_offsets(first_head, source_head_stride, HEADS, BLOCK), mask=mask)
    tl.store(target_ptr + head_offsets(first_head, HEAD_DIM, HEADS, BLOCK), tile, mask=mask)


@triton.jit
def _store_kernel(
    key_ptr,
    value_ptr,
    keys_ptr,
    values_ptr,
    slots_ptr,
    key_row_stride,
    key_head_stride,
    value_row_stride,
    value_head_stride,
    NUM_HEADS: tl.constexpr,
    HEAD_DIM: tl.constexpr,
    HEADS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    slot = tl.load(slots_ptr + row)
    if slot >= 0:
        head = tl.program_id(1) * HEADS
        target = slot * (NUM_HEADS * HEAD_DIM)  # slots are int64: this passes 2^31 in a large cache
        key_row, value_row = key_ptr + row * key_row_stride, value_ptr + row * value_row_stride
        copy_heads(key_row, key_head_stride, keys_ptr + target, head, NUM_HEADS, HEAD_DIM, HEADS, BLOCK)
        copy_heads(value_row, value_head_stride, values_ptr + target, head, NUM_HEADS, HEAD_DIM, HEADS, BLOCK)


def store_kvcache(
    key: torch.Tensor, value: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, slots: torch.Tensor
) -> None:
    """Write rows of keys and values to their slots.

    Args:
        key: [N or more, num_kv_heads, head_dim]; rows and heads may be strided, a head is contiguous.
        value: likewise.
        keys: cache [num_blocks, block_size, num_kv_heads, head_dim], contiguous; written.
        values: likewise.
        slots: int64 [N]; a negative slot is skipped. Rows past N are not written.
    """
    assert keys.is_contiguous()
    assert values.is_contiguous()
    assert key.stride(-1) == value.stride(-1) == 1
    num_heads, head_dim = keys.shape[2:]
    _store_kernel[(slots.shape[0], triton.cdiv(num_heads, HEADS_PER_PROGRAM))](
        key,
        value,
        keys,
        values,
        slots,
        key.stride(0),
        key.stride(1),
        value.stride(0),
        value.stride(1),
        NUM_HEADS=num_heads,
        HEAD_DIM=head_dim,
        HEADS=HEADS_PER_PROGRAM,
        BLOCK=triton.next_power_of_2(head_dim),
        num_warps=2,
    )
