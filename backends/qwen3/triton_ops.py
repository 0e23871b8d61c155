"""The fused operations as Triton kernels."""
# ruff: noqa: ANN001, ANN202, N803 - Triton infers argument types, and compile-time constants are upper case

import torch
import triton
import triton.language as tl

from backends.qwen3.norm_rope_store import norm_rope_store

_SILU_BLOCK = 1024


@triton.jit
def _add_rms_norm_kernel(
    x_ptr, residual_ptr, weight_ptr, out_ptr, eps, SIZE: tl.constexpr, HAS_X: tl.constexpr, BLOCK: tl.constexpr
):
    columns = tl.arange(0, BLOCK)
    mask = columns < SIZE
    offsets = tl.program_id(0).to(tl.int64) * SIZE + columns
    value = tl.load(residual_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
    if HAS_X:
        value += tl.load(x_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
        rounded = value.to(residual_ptr.dtype.element_ty)
        tl.store(residual_ptr + offsets, rounded, mask=mask)
        value = rounded.to(tl.float32)
    weight = tl.load(weight_ptr + columns, mask=mask, other=0.0).to(tl.float32)
    scale = tl.rsqrt(tl.sum(value * value, axis=0) / SIZE + eps)
    tl.store(out_ptr + offsets, (value * scale * weight).to(out_ptr.dtype.element_ty), mask=mask)


@triton.jit
def _silu_mul_kernel(gate_up_ptr, out_ptr, SIZE: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = columns < SIZE
    gate = tl.load(gate_up_ptr + row * 2 * SIZE + columns, mask=mask, other=0.0).to(tl.float32)
    up = tl.load(gate_up_ptr + row * 2 * SIZE + SIZE + columns, mask=mask, other=0.0).to(tl.float32)
    tl.store(out_ptr + row * SIZE + columns, (gate / (1 + tl.exp(-gate)) * up).to(out_ptr.dtype.element_ty), mask=mask)


class TritonOps:
    """See `Ops`."""

    norm_rope_store = staticmethod(norm_rope_store)

    def add_rms_norm(
        self, x: torch.Tensor | None, residual: torch.Tensor, weight: torch.Tensor, eps: float
    ) -> torch.Tensor:
        """Add in place, then normalise; one program a row."""
        assert residual.is_contiguous()
        assert x is None or x.is_contiguous()
        num_rows, size = residual.shape
        out = torch.empty_like(residual)
        _add_rms_norm_kernel[(num_rows,)](
            residual if x is None else x,
            residual,
            weight,
            out,
            eps,
            SIZE=size,
            HAS_X=x is not None,
            BLOCK=triton.next_power_of_2(size),
            num_warps=4 if size <= 2048 else 8,
        )
        return out

    def silu_mul(self, gate_up: torch.Tensor) -> torch.Tensor:
        """Silu of the first half, times the second; one program for a piece of a row."""
        assert gate_up.is_contiguous()
        num_rows, size = gate_up.shape[0], gate_up.shape[1] // 2
        out = torch.empty(num_rows, size, dtype=gate_up.dtype, device=gate_up.device)
        grid = (num_rows, triton.cdiv(size, _SILU_BLOCK))
        _silu_mul_kernel[grid](gate_up, out, SIZE=size, BLOCK=_SILU_BLOCK, num_warps=4)
        return out
