"""The ranks that share one model."""

from typing import Protocol

import torch
import torch.distributed as dist


class Group(Protocol):
    """What the layers need of tensor parallelism. Every rank makes the same calls in the same order."""

    @property
    def rank(self) -> int:
        """This rank, from 0."""
        ...

    @property
    def size(self) -> int:
        """Number of ranks."""
        ...

    def all_reduce(self, tensor: torch.Tensor) -> torch.Tensor:
        """Sum over ranks; may work in place, so use only what is returned."""
        ...

    def all_gather(self, tensor: torch.Tensor) -> torch.Tensor:
        """Concatenate along the last dimension, in rank order; the same on each rank."""
        ...

    def minimum(self, value: int) -> int:
        """Smallest `value` of all ranks."""
        ...


class SingleRank:
    """A group of one: nothing is exchanged."""

    rank = 0
    size = 1

    def all_reduce(self, tensor: torch.Tensor) -> torch.Tensor:
        """Return `tensor`."""
        return tensor

    def all_gather(self, tensor: torch.Tensor) -> torch.Tensor:
        """Return `tensor`."""
        return tensor

    def minimum(self, value: int) -> int:
        """Return `value`."""
        return value


class DistributedGroup:
    """Ranks of an initialised `torch.distributed` process group, NCCL or gloo.

    Args:
        device: where tensors of this rank live; NCCL exchanges the ones of `minimum` there too.
        process_group: None = the default group.
    """

    def __init__(self, device: torch.device, process_group: dist.ProcessGroup | None = None) -> None:
        self._device = device
        self._process_group = process_group
        self.rank: int = dist.get_rank(process_group)
        self.size: int = dist.get_world_size(process_group)

    def all_reduce(self, tensor: torch.Tensor) -> torch.Tensor:
        """Sum over ranks, in place."""
        dist.all_reduce(tensor, group=self._process_group)
        return tensor

    def all_gather(self, tensor: torch.Tensor) -> torch.Tensor:
        """Concatenate along the last dimension, in rank order."""
        parts = tensor.new_empty((self.size * tensor.shape[0], *tensor.shape[1:]))
        dist.all_gather_into_tensor(parts, tensor.contiguous(), group=self._process_group)
        by_rank = parts.view(self.size, *tensor.shape)
        return by_rank.movedim(0, -2).reshape(*tensor.shape[:-1], self.size * tensor.shape[-1])

    def minimum(self, value: int) -> int:
        """Smallest `value` of all ranks."""
        tensor = torch.tensor([value], dtype=torch.int64, device=self._device)
        dist.all_reduce(tensor, op=dist.ReduceOp.MIN, group=self._process_group)
        return int(tensor.item())
