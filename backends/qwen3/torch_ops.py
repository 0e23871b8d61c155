"""The fused operations in plain torch: the CPU's, and what the kernels are compared with."""

import torch
import torch.nn.functional as F  # noqa: N812 - the usual name


class TorchOps:
    """See `Ops`."""

    def add_rms_norm(
        self, x: torch.Tensor | None, residual: torch.Tensor, weight: torch.Tensor, eps: float
    ) -> torch.Tensor:
        """Add in place, then normalise."""
        if x is not None:
            residual.add_(x)
        return _rms_norm(residual.float(), weight, eps).to(residual.dtype)

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
        """Normalise and rotate query and key heads, store keys and values."""
        num_kv_heads, head_dim = keys.shape[2:]
        heads = qkv.unflatten(-1, (-1, head_dim))
        query, key, value = heads.split((heads.shape[1] - 2 * num_kv_heads, num_kv_heads, num_kv_heads), dim=1)
        angles = rotary[positions].unsqueeze(1)
        query = _rotate(_rms_norm(query.float(), q_weight, eps), angles).to(qkv.dtype)
        key = _rotate(_rms_norm(key.float(), k_weight, eps), angles).to(qkv.dtype)
        store_kvcache(key, value, keys, values, slots)
        return query.contiguous()

    def silu_mul(self, gate_up: torch.Tensor) -> torch.Tensor:
        """Silu of the first half, times the second."""
        gate, up = gate_up.float().chunk(2, dim=-1)
        return (F.silu(gate) * up).to(gate_up.dtype)


def store_kvcache(
    key: torch.Tensor, value: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, slots: torch.Tensor
) -> None:
    """Write rows of keys and values [N or more, num_kv_heads, head_dim] to `slots` [N]; negative slots are skipped."""
    is_real = slots >= 0
    for rows, cache in ((key, keys), (value, values)):
        cache.flatten(0, 1)[slots[is_real]] = rows[: slots.shape[0]][is_real]


def _rms_norm(x: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * weight.float()


def _rotate(x: torch.Tensor, angles: torch.Tensor) -> torch.Tensor:
    cos, sin = angles.chunk(2, dim=-1)
    low, high = x.chunk(2, dim=-1)
    return torch.cat((low * cos - high * sin, high * cos + low * sin), dim=-1)
