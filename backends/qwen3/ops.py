"""The small operations between matrix products, fused so that a layer is few kernels."""

from typing import Protocol

import torch


class Ops(Protocol):
    """Fused operations; float32 inside, one rounding at the end, the same result from every implementation."""

    def add_rms_norm(
        self, x: torch.Tensor | None, residual: torch.Tensor, weight: torch.Tensor, eps: float
    ) -> torch.Tensor:
        """Add, then normalise.

        Args:
            x: [N, size], added to `residual` in place (rounded to its dtype); None = nothing to add.
            residual: [N, size], contiguous.
            weight: [size].
            eps: added to the mean square.

        Returns:
            [N, size]: residual / sqrt(mean square + eps) * weight.
        """
        ...

    def norm_rope_store(
        self,
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
        """Normalise and rotate each query and key head, then store keys and values in the cache.

        Args:
            qkv: [N, (num_heads + 2 * num_kv_heads) * head_dim], rows may be strided: query, key, value heads.
            q_weight: [head_dim].
            k_weight: [head_dim].
            eps: added to the mean square.
            rotary: float32 [positions, head_dim], see `rotary_table`.
            positions: int64 [N].
            slots: int64 [N], negative = do not store.
            keys: cache of one layer [num_blocks, block_size, num_kv_heads, head_dim], contiguous; written.
            values: likewise.

        Returns:
            Queries [N, num_heads, head_dim], contiguous.
        """
        ...

    def silu_mul(self, gate_up: torch.Tensor) -> torch.Tensor:
        """[N, 2 * size], gate then up -> silu(gate) * up, [N, size]."""
        ...


def ops_for(device: torch.device) -> Ops:
    """Triton kernels on a GPU, plain torch elsewhere."""
    if device.type == "cuda":
        from backends.qwen3.triton_ops import TritonOps  # only here: Triton is not installed on every machine

        return TritonOps()
    from backends.qwen3.torch_ops import TorchOps

    return TorchOps()
