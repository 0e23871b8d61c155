"""Where a tensor of a checkpoint goes."""

from dataclasses import dataclass

import torch


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """One checkpoint tensor, the slice of it that this rank holds, and the part of a parameter that receives it.

    A fused parameter has several placements, one for each tensor that it is made of. All weights are described this
    way, so that loading, checking and random filling are each one loop.

    Attributes:
        key: name in the checkpoint.
        shape: of the whole tensor there.
        dim: dimension that is split over ranks.
        start: first index along `dim` that this rank holds.
        length: how many.
        target: view of a parameter, in the shape of the slice.
    """

    key: str
    shape: tuple[int, ...]
    dim: int
    start: int
    length: int
    target: torch.Tensor

    def __post_init__(self) -> None:
        expected = (*self.shape[: self.dim], self.length, *self.shape[self.dim + 1 :])
        assert self.target.shape == expected, f"{self.key}: slice {expected} for a target {tuple(self.target.shape)}"
        assert self.start + self.length <= self.shape[self.dim], f"{self.key}: slice ends past {self.shape}"


def whole(key: str, target: torch.Tensor) -> Placement:
    """A tensor that every rank holds in full."""
    return Placement(key=key, shape=tuple(target.shape), dim=0, start=0, length=target.shape[0], target=target)
