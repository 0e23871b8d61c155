"""Inputs of any step, built with whole-array operations and sent to the device in one copy."""

from typing import Any

import numpy as np
import torch

from backends.qwen3.forward_inputs import ForwardInputs
from backends.qwen3.packed_buffer import Field, FieldSpec, PackedBuffer
from backends.qwen3.sampling_inputs import SamplingInputs
from backends.qwen3.sampling_rows import SamplingRows
from backends.qwen3.sequence_rows import SequenceRows
from backends.qwen3.step_command import IntArray, StepCommand
from backends.qwen3.step_layout import StepLayout
from backends.qwen3.table_widths import TableWidths


class InputBuffers:
    """Lays out steps that mix decode rows and chunks; what it returns is valid until the next call.

    Rows of one token come first, in batch order, then the chunks in batch order. `logits_rows` undoes the order:
    logits and samples are in batch order.

    Args:
        rows: tokens and blocks of live sequences.
        device: where the inputs go.
        num_tokens: tokens to make room for at first; a larger step takes a larger buffer.
        widths: of the decode rows' block tables; None = as wide as needed.
    """

    def __init__(
        self, rows: SequenceRows, *, device: torch.device, num_tokens: int, widths: TableWidths | None = None
    ) -> None:
        self._rows = rows
        self._device = device
        self._widths = widths
        self._buffer = PackedBuffer(_TOKEN_BYTES * num_tokens, device)

    def build(self, command: StepCommand, sampling: SamplingRows | None) -> tuple[ForwardInputs, SamplingInputs | None]:
        """Inputs of one step.

        Args:
            command: the step, already applied to the rows.
            sampling: how sequences are sampled; None on a rank that does not sample.

        Returns:
            What the model reads, and what the sampler reads. If no row samples, the logits of one row are wanted all
            the same, since kernels want at least one, and the sampler gets None.
        """
        layout = StepLayout(command, self._rows)
        fields = self._lay_out(layout)
        columns = {name: field.host for name, field in fields.items()}
        layout.write_tokens(columns)
        layout.write_lengths(columns, first_chunk_row=0)
        layout.write_tables(columns["decode_block_tables"], columns["chunk_block_tables"])
        sampled = write_sampled(fields, sampling, command)
        self._buffer.upload(max(field.end for field in fields.values()))
        return _forward_inputs(layout, fields), sampled

    def _lay_out(self, layout: StepLayout) -> dict[str, Field]:
        width = layout.decode_width
        if self._widths is not None:
            width = self._widths.eager(width)
        specs = _specs(layout, width)
        needed = sum(spec.num_bytes for spec in specs)
        if needed > self._buffer.num_bytes:
            self._buffer = PackedBuffer(2 * needed, self._device)
        return self._buffer.lay_out(specs)


_TOKEN_BYTES = 3 * 8 + 8  # ids, positions and slots, and some for the rows
SAMPLING_FIELDS = (
    ("keys", np.int64),
    ("sample_positions", np.int64),
    ("temperatures", np.float32),
    ("top_ks", np.int32),
    ("top_ps", np.float32),
)


def write_sampling(fields: dict[str, Field], sampling: SamplingRows, seats: IntArray) -> None:
    """Fill the sampler's fields, but for the positions, with the settings of `seats`; fields may be longer."""
    for name in ("keys", "temperatures", "top_ks", "top_ps"):
        fields[name].host[: len(seats)] = getattr(sampling, name)[seats]


def sampling_inputs(fields: dict[str, Field], sampling: SamplingRows, seats: IntArray) -> SamplingInputs:
    """The sampler's view of its fields, one row for each of `seats`."""
    num = len(seats)
    return SamplingInputs(
        temperatures=fields["temperatures"].device[:num],
        top_ks=fields["top_ks"].device[:num],
        top_ps=fields["top_ps"].device[:num],
        keys=fields["keys"].device[:num],
        positions=fields["sample_positions"].device[:num],
        has_filter=bool(sampling.has_filter[seats].any()),
    )


def write_sampled(
    fields: dict[str, Field], sampling: SamplingRows | None, command: StepCommand
) -> SamplingInputs | None:
    """Fill the sampler's fields for the rows that yield a token; returns its view of them, None without such rows."""
    if sampling is None or not command.samples.any():
        return None
    seats = command.seats[command.samples]
    write_sampling(fields, sampling, seats)
    positions = (command.first_positions + command.num_tokens)[command.samples]
    fields["sample_positions"].host[: len(seats)] = positions
    return sampling_inputs(fields, sampling, seats)


def _specs(layout: StepLayout, decode_width: int) -> tuple[FieldSpec, ...]:
    num_tokens, num_decodes, num_chunks = layout.num_tokens, layout.num_decodes, layout.num_chunks
    return (
        FieldSpec("token_ids", np.int64, (num_tokens,)),
        FieldSpec("positions", np.int64, (num_tokens,)),
        FieldSpec("slots", np.int64, (num_tokens,)),
        FieldSpec("logits_rows", np.int64, (layout.num_wanted,)),
        FieldSpec("decode_context_lens", np.int32, (num_decodes,)),
        FieldSpec("chunk_query_starts", np.int32, (num_chunks + 1,)),
        FieldSpec("chunk_key_starts", np.int32, (num_chunks + 1,)),
        FieldSpec("chunk_context_lens", np.int32, (num_chunks,)),
        FieldSpec("decode_block_tables", np.int32, (num_decodes, decode_width)),
        FieldSpec("chunk_block_tables", np.int32, (num_chunks, layout.chunk_width)),
        *(FieldSpec(name, dtype, (layout.num_wanted,)) for name, dtype in SAMPLING_FIELDS),
    )


def _forward_inputs(layout: StepLayout, fields: dict[str, Field]) -> ForwardInputs:
    """The model's view of the fields."""
    sampling_names = {name for name, _ in SAMPLING_FIELDS}
    device: dict[str, Any] = {name: field.device for name, field in fields.items() if name not in sampling_names}
    return ForwardInputs(
        num_decodes=layout.num_decodes, max_query=layout.max_query, max_context=layout.max_context, **device
    )
