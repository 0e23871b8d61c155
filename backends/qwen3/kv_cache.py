"""The paged KV cache: its size and its memory."""

import torch


class KVCache:
    """Keys and values of all layers in blocks.

    Zero at first, so that nothing ever read is NaN that no request wrote.

    Attributes:
        keys: for each layer [num_blocks, block_size, num_kv_heads, head_dim] (KV heads of this rank).
        values: likewise.
    """

    def __init__(
        self,
        num_layers: int,
        num_blocks: int,
        block_size: int,
        num_kv_heads: int,
        head_dim: int,
        *,
        dtype: torch.dtype,
        device: torch.device,
    ) -> None:
        shape = (num_layers, 2, num_blocks, block_size, num_kv_heads, head_dim)
        self._memory = torch.zeros(shape, dtype=dtype, device=device)
        self.keys = [layer[0] for layer in self._memory]
        self.values = [layer[1] for layer in self._memory]

    @property
    def num_blocks(self) -> int:
        """Blocks in the pool."""
        return self._memory.shape[2]

    @property
    def block_size(self) -> int:
        """Tokens in a block."""
        return self._memory.shape[3]

    def clear(self, block_ids: list[int]) -> None:
        """Zero these blocks in all layers.

        For blocks of a request that failed with NaN: a kernel may multiply what lies behind a row's context by a
        weight of 0, and 0 x NaN is NaN.
        """
        self._memory[:, :, block_ids] = 0
