"""The attention block of a decoder layer: projections around a paged attention kernel."""

from collections.abc import Iterator

import torch
from torch import nn

from backends.qwen3.attention import Attention
from backends.qwen3.config import Qwen3Config
from backends.qwen3.forward_inputs import ForwardInputs
from backends.qwen3.group import Group
from backends.qwen3.linear import Linear, qkv, row_parallel
from backends.qwen3.ops import Ops
from backends.qwen3.placement import Placement
from backends.qwen3.rms_norm import RMSNorm


class SelfAttention(nn.Module):
    """Queries, keys and values by head, normalised and rotated; attention over the cache; output projection."""

    def __init__(self, config: Qwen3Config, group: Group, ops: Ops, device: torch.device) -> None:
        super().__init__()
        self._ops = ops
        hidden, head_dim, dtype = config.hidden_size, config.head_dim, config.dtype
        num_heads, num_kv_heads = config.num_attention_heads, config.num_key_value_heads
        self.qkv = Linear(qkv(hidden, num_heads, num_kv_heads, head_dim, group), dtype=dtype, device=device)
        self.q_norm = RMSNorm(head_dim, config.rms_norm_eps, dtype=dtype, device=device)
        self.k_norm = RMSNorm(head_dim, config.rms_norm_eps, dtype=dtype, device=device)
        self.out = Linear(
            [row_parallel("o_proj", num_heads * head_dim, hidden, group)], sum_over=group, dtype=dtype, device=device
        )

    def forward(
        self,
        x: torch.Tensor,
        inputs: ForwardInputs,
        rotary: torch.Tensor,
        keys: torch.Tensor,
        values: torch.Tensor,
        attention: Attention,
    ) -> torch.Tensor:
        """Attend with every row; `project` comes after, so that a caller may drop rows between.

        The keys and values of all rows are stored before any row attends: a row may read what another row of the same
        step computes.

        Args:
            x: [N, hidden_size], normalised.
            inputs: rows, slots and block tables.
            rotary: see `rotary_table`.
            keys: this layer's cache.
            values: likewise.
            attention: the kernels.

        Returns:
            [N, num_heads * head_dim] of this rank.
        """
        query = self._ops.norm_rope_store(
            self.qkv(x),
            self.q_norm.weight,
            self.k_norm.weight,
            self.q_norm.eps,
            rotary,
            inputs.positions,
            inputs.slots,
            keys,
            values,
        )
        return attention(query, keys, values, inputs).flatten(1)

    def project(self, attended: torch.Tensor) -> torch.Tensor:
        """[N, num_heads * head_dim] of this rank -> [N, hidden_size], summed over ranks."""
        return self.out(attended)

    def placements(self, prefix: str) -> Iterator[Placement]:
        """Where this module's checkpoint tensors go."""
        yield from self.qkv.placements(prefix)
        yield from self.q_norm.placements(f"{prefix}.q_norm")
        yield from self.k_norm.placements(f"{prefix}.k_norm")
        yield from self.out.placements(prefix)
