"""Attention by flash-attn 2.x: block sizes that are multiples of 256."""

from collections.abc import Callable

import torch

from backends.qwen3.context_splits import context_splits
from backends.qwen3.forward_inputs import ForwardInputs


class Flash2Kernels:
    """The library's paged kernels.

    Args:
        varlen: `flash_attn.flash_attn_varlen_func`.
        with_kvcache: `flash_attn.flash_attn_with_kvcache`.
    """

    name = "flash2"
    is_split_by_width = True
    can_capture_chunks = True

    def __init__(self, varlen: Callable[..., torch.Tensor], with_kvcache: Callable[..., torch.Tensor]) -> None:
        self._varlen = varlen
        self._with_kvcache = with_kvcache

    def decode(
        self,
        query: torch.Tensor,
        keys: torch.Tensor,
        values: torch.Tensor,
        block_tables: torch.Tensor,
        context_lens: torch.Tensor,
    ) -> torch.Tensor:
        """Rows of one token each; long contexts are split by the width of the block tables, see `context_splits`."""
        _, block_size, num_kv_heads, _ = keys.shape
        out = self._with_kvcache(
            query.unsqueeze(1),
            keys,
            values,
            cache_seqlens=context_lens,
            block_table=block_tables,
            causal=True,
            num_splits=context_splits(len(query), num_kv_heads, block_tables.shape[1] * block_size),
        )
        return out.squeeze(1)

    def chunks(
        self, query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, inputs: ForwardInputs
    ) -> torch.Tensor:
        """All chunks in one call; the causal mask is aligned to the end of each context."""
        return self._varlen(
            query,
            keys,
            values,
            cu_seqlens_q=inputs.chunk_query_starts,
            cu_seqlens_k=inputs.chunk_key_starts,
            max_seqlen_q=inputs.max_query,
            max_seqlen_k=inputs.max_context,
            causal=True,
            block_table=inputs.chunk_block_tables,
        )
