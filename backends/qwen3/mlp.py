"""The gated MLP of a decoder layer."""

from collections.abc import Iterator

import torch
from torch import nn

from backends.qwen3.config import Qwen3Config
from backends.qwen3.group import Group
from backends.qwen3.linear import Linear, merged_column, row_parallel
from backends.qwen3.ops import Ops
from backends.qwen3.placement import Placement


class MLP(nn.Module):
    """down(silu(gate(x)) * up(x)); gate and up are one matrix product."""

    def __init__(self, config: Qwen3Config, group: Group, ops: Ops, device: torch.device) -> None:
        super().__init__()
        self._ops = ops
        hidden, inner = config.hidden_size, config.intermediate_size
        self.gate_up = Linear(
            merged_column(("gate_proj", "up_proj"), hidden, inner, group), dtype=config.dtype, device=device
        )
        self.down = Linear(
            [row_parallel("down_proj", inner, hidden, group)], sum_over=group, dtype=config.dtype, device=device
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """[N, hidden_size] -> [N, hidden_size]."""
        return self.down(self._ops.silu_mul(self.gate_up(x)))

    def placements(self, prefix: str) -> Iterator[Placement]:
        """Where this module's checkpoint tensors go."""
        yield from self.gate_up.placements(prefix)
        yield from self.down.placements(prefix)
