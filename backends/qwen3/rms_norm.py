"""The weight of an RMSNorm; the arithmetic is in the fused operations."""

from collections.abc import Iterator

import torch
from torch import nn

from backends.qwen3.placement import Placement, whole


class RMSNorm(nn.Module):
    """Scale of each of `size` dimensions, the same on each rank.

    Args:
        size: dimensions that are normalised together.
        eps: added to their mean square.
        dtype: of the weight.
        device: where it lives.
    """

    def __init__(self, size: int, eps: float, *, dtype: torch.dtype, device: torch.device) -> None:
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.empty(size, dtype=dtype, device=device), requires_grad=False)

    def placements(self, prefix: str) -> Iterator[Placement]:
        """The whole weight; `prefix` is the checkpoint's name of this module."""
        yield whole(f"{prefix}.weight", self.weight.data)
