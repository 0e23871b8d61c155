"""Attention by the CuTe version of flash-attn (package flash-attn-4): any block size."""

from collections.abc import Callable

import torch

from backends.qwen3.forward_inputs import ForwardInputs


class Flash4Kernels:
    """The library's paged kernel, in two uses. The first call of each use compiles, which takes seconds.

    Args:
        varlen: `flash_attn.cute.flash_attn_varlen_func`, which returns (output, log-sum-exp or None).
    """

    name = "flash4"
    is_split_by_width = False  # on Hopper it never splits
    can_capture_chunks = True

    def __init__(self, varlen: Callable[..., tuple[torch.Tensor, torch.Tensor | None]]) -> None:
        self._varlen = varlen

    def decode(
        self,
        query: torch.Tensor,
        keys: torch.Tensor,
        values: torch.Tensor,
        block_tables: torch.Tensor,
        context_lens: torch.Tensor,
    ) -> torch.Tensor:
        """Rows of one token each, as a batch of sequences of length 1."""
        out, _ = self._varlen(
            query.unsqueeze(1), keys, values, seqused_k=context_lens, page_table=block_tables, causal=True
        )
        return out.squeeze(1)

    def chunks(
        self, query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, inputs: ForwardInputs
    ) -> torch.Tensor:
        """All chunks in one call.

        `max_seqlen_q` is left out on purpose: on Hopper it does not change the kernel, but short and long maxima would
        be compiled apart, in the middle of a run.
        """
        out, _ = self._varlen(
            query,
            keys,
            values,
            cu_seqlens_q=inputs.chunk_query_starts,
            seqused_k=inputs.chunk_context_lens,
            page_table=inputs.chunk_block_tables,
            causal=True,
        )
        return out
