"""Linear layers without bias, whole or split over ranks."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F  # noqa: N812 - the usual name
from torch import nn

from backends.qwen3.errors import ModelError
from backends.qwen3.group import Group
from backends.qwen3.placement import Placement


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """The part of one checkpoint matrix that this rank holds.

    Attributes:
        name: module name in the checkpoint, as "q_proj".
        shape: (outputs, inputs) of the whole matrix.
        dim: dimension that is split, 0 = outputs (column-parallel), 1 = inputs (row-parallel).
        start: first row or column of this rank.
        length: how many.
    """

    name: str
    shape: tuple[int, int]
    dim: int
    start: int
    length: int

    @property
    def local_shape(self) -> tuple[int, int]:
        """(outputs, inputs) on this rank."""
        return (self.length, self.shape[1]) if self.dim == 0 else (self.shape[0], self.length)


class Linear(nn.Module):
    """One matrix product with a weight stacked from shards along the outputs.

    Args:
        shards: parts of the weight, in output order; equal inputs.
        sum_over: group whose ranks each hold a part of the inputs, so that outputs are summed; None = none.
        dtype: of the weight.
        device: where it lives.
    """

    def __init__(
        self, shards: Sequence[Shard], *, sum_over: Group | None = None, dtype: torch.dtype, device: torch.device
    ) -> None:
        super().__init__()
        self._shards = tuple(shards)
        self._sum_over = sum_over
        outputs = sum(shard.local_shape[0] for shard in shards)
        weight = torch.empty(outputs, shards[0].local_shape[1], dtype=dtype, device=device)
        self.weight = nn.Parameter(weight, requires_grad=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """[N, inputs] -> [N, outputs]."""
        y = F.linear(x, self.weight)
        return y if self._sum_over is None else self._sum_over.all_reduce(y)

    def placements(self, prefix: str) -> Iterator[Placement]:
        """One for each shard; `prefix` is the checkpoint's name of the parent module."""
        row = 0
        for shard in self._shards:
            target = self.weight.data.narrow(0, row, shard.local_shape[0])
            row += shard.local_shape[0]
            yield Placement(
                key=f"{prefix}.{shard.name}.weight",
                shape=shard.shape,
                dim=shard.dim,
                start=shard.start,
                length=shard.length,
                target=target,
            )


def replicated(name: str, inputs: int, outputs: int) -> Shard:
    """The whole matrix on each rank."""
    return Shard(name=name, shape=(outputs, inputs), dim=0, start=0, length=outputs)


def column_parallel(name: str, inputs: int, outputs: int, group: Group) -> Shard:
    """Outputs split evenly; the input is whole on each rank."""
    length = _share(name, "outputs", outputs, group)
    return Shard(name=name, shape=(outputs, inputs), dim=0, start=group.rank * length, length=length)


def merged_column(names: Sequence[str], inputs: int, outputs: int, group: Group) -> list[Shard]:
    """Several column-parallel matrices of equal shape, computed as one."""
    return [column_parallel(name, inputs, outputs, group) for name in names]


def qkv(inputs: int, num_heads: int, num_kv_heads: int, head_dim: int, group: Group) -> list[Shard]:
    """Query, key and value projections split by head, computed as one.

    With fewer key/value heads than ranks each one is held by several neighbouring ranks, those of its query heads.
    """
    _share("q_proj", "heads", num_heads, group)  # first: a number that divides the outputs may split a head
    query = column_parallel("q_proj", inputs, num_heads * head_dim, group)
    return [query, *(_kv_shard(name, inputs, num_kv_heads, head_dim, group) for name in ("k_proj", "v_proj"))]


def row_parallel(name: str, inputs: int, outputs: int, group: Group) -> Shard:
    """Inputs split evenly, as column-parallel layers before it left them; the outputs need a sum over ranks."""
    length = _share(name, "inputs", inputs, group)
    return Shard(name=name, shape=(outputs, inputs), dim=1, start=group.rank * length, length=length)


def _kv_shard(name: str, inputs: int, num_heads: int, head_dim: int, group: Group) -> Shard:
    larger, smaller = max(num_heads, group.size), min(num_heads, group.size)
    if larger % smaller:
        raise ModelError(
            f"{num_heads} key/value heads cannot be spread over {group.size} tensor-parallel ranks; "
            f"one number must be a multiple of the other."
        )
    first = group.rank * num_heads // group.size
    length = max(1, num_heads // group.size) * head_dim
    return Shard(name=name, shape=(num_heads * head_dim, inputs), dim=0, start=first * head_dim, length=length)


def _share(name: str, what: str, count: int, group: Group) -> int:
    if count % group.size:
        raise ModelError(
            f"{name} has {count} {what}, which {group.size} tensor-parallel ranks cannot share evenly; "
            f"use a number of ranks that divides {count}."
        )
    return count // group.size
