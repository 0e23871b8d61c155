"""One decoder layer."""

from collections.abc import Iterator

import torch
from torch import nn

from backends.qwen3.attention import Attention
from backends.qwen3.config import Qwen3Config
from backends.qwen3.forward_inputs import ForwardInputs
from backends.qwen3.group import Group
from backends.qwen3.mlp import MLP
from backends.qwen3.ops import Ops
from backends.qwen3.placement import Placement
from backends.qwen3.rms_norm import RMSNorm
from backends.qwen3.self_attention import SelfAttention


class DecoderLayer(nn.Module):
    """Attention and MLP, each behind a norm and added to the residual stream by the norm that comes next."""

    def __init__(self, config: Qwen3Config, group: Group, ops: Ops, device: torch.device) -> None:
        super().__init__()
        self._ops = ops
        size, eps, dtype = config.hidden_size, config.rms_norm_eps, config.dtype
        self.attention_norm = RMSNorm(size, eps, dtype=dtype, device=device)
        self.attention = SelfAttention(config, group, ops, device)
        self.mlp_norm = RMSNorm(size, eps, dtype=dtype, device=device)
        self.mlp = MLP(config, group, ops, device)

    def forward(
        self,
        delta: torch.Tensor | None,
        residual: torch.Tensor,
        inputs: ForwardInputs,
        rotary: torch.Tensor,
        keys: torch.Tensor,
        values: torch.Tensor,
        attention: Attention,
        kept_rows: torch.Tensor | None,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Run the layer.

        Args:
            delta: [N, hidden_size] that the layer before still has to add to the stream; None before the first.
            residual: [N, hidden_size], the stream; changed in place.
            inputs: rows, slots and block tables.
            rotary: see `rotary_table`.
            keys: this layer's cache.
            values: likewise.
            attention: the kernels.
            kept_rows: int64 [S], rows that go on after attention; None = all.

        Returns:
            (delta, residual) for what comes next, of the rows kept.
        """
        norm = self.attention_norm
        x = self._ops.add_rms_norm(delta, residual, norm.weight, norm.eps)
        attended = self.attention(x, inputs, rotary, keys, values, attention)
        if kept_rows is not None:
            attended, residual = attended[kept_rows], residual[kept_rows]
        delta = self.attention.project(attended)
        norm = self.mlp_norm
        return self.mlp(self._ops.add_rms_norm(delta, residual, norm.weight, norm.eps)), residual

    def placements(self, prefix: str) -> Iterator[Placement]:
        """Where this layer's checkpoint tensors go."""
        yield from self.attention_norm.placements(f"{prefix}.input_layernorm")
        yield from self.attention.placements(f"{prefix}.self_attn")
        yield from self.mlp_norm.placements(f"{prefix}.post_attention_layernorm")
        yield from self.mlp.placements(f"{prefix}.mlp")
