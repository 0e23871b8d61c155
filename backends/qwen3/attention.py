"""The one interface of all attention kernels, and the step that splits rows between decode and chunk kernels."""

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


class AttentionKernels(Protocol):
    """What one library offers: a kernel for rows of one query token, and one for chunks of many."""

    @property
    def name(self) -> str:
        """Short name, as in `--attention`."""
        ...

    @property
    def is_split_by_width(self) -> bool:
        """Whether the decode kernel splits contexts by the width of the block table, see `TableWidths`."""
        ...

    @property
    def can_capture_chunks(self) -> bool:
        """Whether the chunk kernel can be captured: it reads nothing of the device on the host."""
        ...

    def decode(
        self,
        query: torch.Tensor,
        keys: torch.Tensor,
        values: torch.Tensor,
        block_tables: torch.Tensor,
        context_lens: torch.Tensor,
    ) -> torch.Tensor:
        """Rows of one token each.

        Args:
            query: [D, num_heads, head_dim].
            keys: cache of one layer [num_blocks, block_size, num_kv_heads, head_dim].
            values: likewise.
            block_tables: int32 [D, W].
            context_lens: int32 [D]; tokens that a row attends to, itself included; 0 = zeros come out.

        Returns:
            [D, num_heads, head_dim].
        """
        ...

    def chunks(
        self, query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, inputs: ForwardInputs
    ) -> torch.Tensor:
        """Rows of the chunks in `inputs`: [T, num_heads, head_dim] -> the same shape.

        Rows of no chunk, before the first start or after the last, come out as anything.
        """
        ...


class PagedAttention:
    """Decode rows through one library's decode kernel, chunks through the same or another library's chunk kernel.

    Args:
        decode: kernels for the decode rows.
        chunks: kernels for the chunks; None = the same.
    """

    def __init__(self, decode: AttentionKernels, chunks: AttentionKernels | None = None) -> None:
        self._decode = decode
        self._chunks = chunks or decode
        self.name = decode.name if chunks is None else f"{decode.name}+{chunks.name}"
        self.is_split_by_width = decode.is_split_by_width
        self.can_capture_chunks = self._chunks.can_capture_chunks

    def __call__(
        self, query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, inputs: ForwardInputs
    ) -> torch.Tensor:
        """Attend; see `Attention`."""
        num_decodes = inputs.num_decodes
        if inputs.is_split_on_device:
            return self._attend_split_on_device(query, keys, values, inputs)
        if num_decodes == query.shape[0]:
            return self._attend_decodes(query, keys, values, inputs)
        if num_decodes == 0:
            return self._chunks.chunks(query, keys, values, inputs)
        decoded = self._attend_decodes(query[:num_decodes], keys, values, inputs)
        return torch.cat((decoded, self._chunks.chunks(query[num_decodes:], keys, values, inputs)))

    def _attend_decodes(
        self, query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, inputs: ForwardInputs
    ) -> torch.Tensor:
        tables, lens = inputs.decode_block_tables, inputs.decode_context_lens
        return self._decode.decode(query, keys, values, tables, lens)

    def _attend_split_on_device(
        self, query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, inputs: ForwardInputs
    ) -> torch.Tensor:
        """Both kernels on all rows that may be theirs; what a row gets of the wrong one is dropped, NaN or not."""
        out = self._chunks.chunks(query, keys, values, inputs)
        first = out[: inputs.num_decodes]
        decoded = self._attend_decodes(query[: inputs.num_decodes], keys, values, inputs)
        is_decode = (inputs.decode_context_lens > 0)[:, None, None]
        torch.where(is_decode, decoded, first, out=first)
        return out
