"""Inputs of captured steps with chunks: the same memory at every step, since a graph remembers addresses."""

from typing import Any

import numpy as np
import torch

from backends.graph_table import MAX_CHUNKS
from backends.qwen3.forward_inputs import ForwardInputs
from backends.qwen3.input_buffers import SAMPLING_FIELDS, write_sampled
from backends.qwen3.packed_buffer import Field, FieldSpec, PackedBuffer
from backends.qwen3.sampling_inputs import SamplingInputs
from backends.qwen3.sampling_rows import SamplingRows
from backends.qwen3.sequence_rows import SequenceRows
from backends.qwen3.step_command import StepCommand
from backends.qwen3.step_layout import StepLayout
from backends.qwen3.table_widths import TableWidths


class MixedBuffers:
    """Decode rows, then the tokens of chunks, padded up to a captured size.

    As in `DecodeBuffers`, block tables travel only as wide as the step needs and are spread on the device.

    Args:
        rows: tokens and blocks of live sequences.
        max_tokens: largest captured size.
        max_decodes: most decode rows of a captured step.
        max_rows: most rows of a step.
        widths: of the decode rows' block tables; those of chunks have the full width. A longer sequence must run eager.
        device: where the graphs run.

    Attributes:
        widths: as given.
    """

    def __init__(
        self,
        rows: SequenceRows,
        *,
        max_tokens: int,
        max_decodes: int,
        max_rows: int,
        widths: TableWidths,
        device: torch.device,
    ) -> None:
        self.widths = widths
        width = widths.full
        self._rows = rows
        self._max_decodes = max_decodes
        num_tables = max_decodes + MAX_CHUNKS
        specs = [
            *[FieldSpec(name, np.int64, (max_tokens,)) for name in ("token_ids", "positions", "slots")],
            FieldSpec("logits_rows", np.int64, (max_rows,)),
            FieldSpec("decode_context_lens", np.int32, (max_decodes,)),
            *[FieldSpec(name, np.int32, (MAX_CHUNKS + 1,)) for name in ("chunk_query_starts", "chunk_key_starts")],
            FieldSpec("chunk_context_lens", np.int32, (MAX_CHUNKS,)),
            *[FieldSpec(name, dtype, (max_rows,)) for name, dtype in SAMPLING_FIELDS],
            FieldSpec("staged_tables", np.int32, (num_tables * width,)),
        ]
        self._buffer = PackedBuffer(sum(spec.num_bytes for spec in specs), device)
        self._fields = self._buffer.lay_out(specs)
        # Apart, so that both begin where kernels like memory to begin.
        self._decode_tables, self._chunk_tables = [
            torch.zeros((num_rows, width), dtype=torch.int32, device=device) for num_rows in (max_decodes, MAX_CHUNKS)
        ]
        self._fields["slots"].host[:] = -1
        self._buffer.upload(self._buffer.num_bytes)

    def fill(
        self, command: StepCommand, layout: StepLayout, size: int, sampling: SamplingRows | None
    ) -> SamplingInputs | None:
        """Send one step.

        Args:
            command: a step whose chunks, decode rows and widths fit, already applied to the sequence rows.
            layout: of the same step.
            size: captured size, at least the number of tokens.
            sampling: how sequences are sampled; None on a rank that does not sample.

        Returns:
            What the sampler reads; None without rows to sample.
        """
        assert layout.num_tokens <= size, f"{layout.num_tokens} tokens for a graph of {size}"
        columns = self._columns(layout)
        layout.write_tokens(columns)
        layout.write_lengths(columns, first_chunk_row=layout.num_decodes)
        self._pad(layout, size)
        sampled = write_sampled(self._fields, sampling, command)
        self._send(layout)
        return sampled

    def forward_inputs(self, size: int, width: int) -> ForwardInputs:
        """What the model reads in a step of `size` tokens, padding included; decode rows have at most `width` blocks.

        The same memory at each call; narrow tables are the left part of wide ones.
        """
        device: dict[str, torch.Tensor] = {name: field.device for name, field in self._fields.items()}
        num_decodes = min(size, self._max_decodes)
        return ForwardInputs(
            token_ids=device["token_ids"][:size],
            positions=device["positions"][:size],
            slots=device["slots"][:size],
            num_decodes=num_decodes,
            decode_block_tables=self._decode_tables[:num_decodes, :width],
            decode_context_lens=device["decode_context_lens"][:num_decodes],
            chunk_query_starts=device["chunk_query_starts"],
            chunk_key_starts=device["chunk_key_starts"],
            chunk_context_lens=device["chunk_context_lens"],
            chunk_block_tables=self._chunk_tables,
            max_query=size,
            max_context=self.widths.full * self._rows.block_size,
            is_split_on_device=True,
        )

    def logits_rows(self, layout: StepLayout) -> torch.Tensor:
        """int64 [num_wanted] of the step that was filled last."""
        return self._fields["logits_rows"].device[: layout.num_wanted]

    def _columns(self, layout: StepLayout) -> dict[str, Any]:
        """The part of each field that the step fills."""
        starts = layout.num_chunks + 1
        lengths = {
            **dict.fromkeys(("token_ids", "positions", "slots"), layout.num_tokens),
            "logits_rows": layout.num_wanted,
            "decode_context_lens": layout.num_decodes,
            "chunk_query_starts": starts,
            "chunk_key_starts": starts,
            "chunk_context_lens": layout.num_chunks,
        }
        return {name: self._fields[name].host[:length] for name, length in lengths.items()}

    def _pad(self, layout: StepLayout, size: int) -> None:
        """Tokens that read and write nothing, and chunks without tokens."""
        fields, num_chunks = self._fields, layout.num_chunks
        fields["slots"].host[layout.num_tokens : size] = -1
        for name in ("token_ids", "positions"):
            fields[name].host[layout.num_tokens : size] = 0
        fields["decode_context_lens"].host[layout.num_decodes :] = 0
        fields["chunk_context_lens"].host[num_chunks:] = 0
        for name in ("chunk_query_starts", "chunk_key_starts"):
            starts = fields[name].host
            starts[num_chunks + 1 :] = starts[num_chunks]

    def _send(self, layout: StepLayout) -> None:
        staged: Field = self._fields["staged_tables"]
        shapes = (layout.num_decodes, layout.decode_width), (layout.num_chunks, layout.chunk_width)
        split = shapes[0][0] * shapes[0][1]
        end = split + shapes[1][0] * shapes[1][1]
        layout.write_tables(staged.host[:split].reshape(shapes[0]), staged.host[split:end].reshape(shapes[1]))
        self._buffer.upload(staged.end - staged.host.nbytes + end * staged.host.itemsize)
        for target, shape, part in (
            (self._decode_tables, shapes[0], staged.device[:split]),
            (self._chunk_tables, shapes[1], staged.device[split:end]),
        ):
            if shape[0]:
                target[: shape[0], : shape[1]].copy_(part.view(shape))
