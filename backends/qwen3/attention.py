"""The one interface of all attention kernels."""

from typing import Protocol

import torch

from backends.qwen3.forward_inputs import ForwardInputs


class Attention(Protocol):
    """Causal attention of query rows over a paged cache that already holds the keys and values of these rows."""

    @property
    def name(self) -> str:
        """Short name, as in `--attention`."""
        ...

    def __call__(
        self, query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, inputs: ForwardInputs
    ) -> torch.Tensor:
        """Attend.

        Args:
            query: [N, num_heads, head_dim], rows in the order of `inputs`.
            keys: cache of one layer [num_blocks, block_size, num_kv_heads, head_dim]; num_heads is a multiple.
            values: likewise.
            inputs: block tables and lengths.

        Returns:
            [N, num_heads, head_dim]; zeros in rows whose context length is 0.
        """
        ...
