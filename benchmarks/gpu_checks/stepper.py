"""A model on sequences, step by step, with the logits of every token."""

from collections.abc import Sequence

import torch

from backends.qwen3.attention import Attention
from backends.qwen3.kv_cache import KVCache
from backends.qwen3.model import Qwen3Model
from benchmarks.gpu_checks.step_rows import Row, StepRows, in_order_of_inputs


class Stepper:
    """Runs steps through the input buffers of the backend, on a cache with NaN in the blocks that nobody owns.

    Args:
        model: with weights.
        attention: kernels.
        sequences: tokens of each seat.
        block_size: tokens in a KV block.
        device: of the model.
        num_spare_blocks: see `StepRows`.
    """

    def __init__(
        self,
        model: Qwen3Model,
        attention: Attention,
        sequences: Sequence[Sequence[int]],
        *,
        block_size: int,
        device: torch.device,
        num_spare_blocks: int = 0,
    ) -> None:
        self._model, self._attention, self._device = model, attention, device
        self.steps = StepRows(sequences, block_size=block_size, num_spare_blocks=num_spare_blocks)
        config = model.config
        self.kv_cache = KVCache(
            config.num_hidden_layers,
            self.steps.num_blocks,
            block_size,
            config.num_key_value_heads,
            config.head_dim,
            dtype=config.dtype,
            device=device,
        )
        for cache in (*self.kv_cache.keys, *self.kv_cache.values):
            cache[self.steps.free_blocks[1:]] = torch.nan

    def logits(self, rows: Sequence[Row]) -> list[torch.Tensor]:
        """float32 [tokens, vocabulary] of each row, in the order of `rows`."""
        inputs = self.steps.inputs(rows, self._device)
        hidden = self._model(inputs, self.kv_cache, self._attention)
        ordered = in_order_of_inputs(rows)
        parts = self._model.logits(hidden).float().split([row.end - row.first for row in ordered])
        by_row = dict(zip(ordered, parts, strict=True))
        return [by_row[row] for row in rows]
