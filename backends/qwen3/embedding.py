"""Token embedding and output head, split over ranks by vocabulary."""

from collections.abc import Iterator

import torch
import torch.nn.functional as F  # noqa: N812 - the usual name
from torch import nn

from backends.qwen3.group import Group
from backends.qwen3.placement import Placement


class VocabMatrix(nn.Module):
    """One row for each token of the vocabulary; serves as embedding, as head, or as both when they are tied.

    The vocabulary is padded to a multiple of the rank count; rank r holds rows r * share to (r + 1) * share. Rows of
    the padding are zero, no token id reaches them, and their scores are cut off.

    Args:
        vocab_size: tokens.
        hidden_size: width of a row.
        group: ranks that share the rows.
        dtype: of the weight.
        device: where it lives.
    """

    def __init__(
        self, vocab_size: int, hidden_size: int, group: Group, *, dtype: torch.dtype, device: torch.device
    ) -> None:
        super().__init__()
        self._vocab_size = vocab_size
        self._group = group
        share = -(-vocab_size // group.size)
        self._start = min(group.rank * share, vocab_size)
        self._num_real = min(share, vocab_size - self._start)
        self.weight = nn.Parameter(torch.zeros(share, hidden_size, dtype=dtype, device=device), requires_grad=False)

    @property
    def num_padding(self) -> int:
        """Numbers in this rank's weight that no checkpoint fills."""
        return (self.weight.shape[0] - self._num_real) * self.weight.shape[1]

    def embed(self, token_ids: torch.Tensor) -> torch.Tensor:
        """[N] ids below the vocabulary size -> [N, hidden_size], the same on each rank."""
        if self._group.size == 1:
            return F.embedding(token_ids, self.weight)
        local = token_ids - self._start
        is_here = (local >= 0) & (local < self._num_real)
        rows = F.embedding(local.masked_fill(~is_here, 0), self.weight)
        return self._group.all_reduce(rows.masked_fill(~is_here.unsqueeze(1), 0))

    def logits(self, hidden: torch.Tensor) -> torch.Tensor:
        """[S, hidden_size] -> [S, vocab_size], the same on each rank, without the padding."""
        return self._group.all_gather(F.linear(hidden, self.weight))[:, : self._vocab_size]

    def placements(self, key: str) -> Iterator[Placement]:
        """This rank's rows of the checkpoint tensor `key`."""
        if self._num_real:
            yield Placement(
                key=key,
                shape=(self._vocab_size, self.weight.shape[1]),
                dim=0,
                start=self._start,
                length=self._num_real,
                target=self.weight.data[: self._num_real],
            )
