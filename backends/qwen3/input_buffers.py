"""Inputs of any step, built with whole-array operations and sent to the device in one copy."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from backends.qwen3.forward_inputs import ForwardInputs
from backends.qwen3.packed_buffer import Field, FieldSpec, PackedBuffer
from backends.qwen3.sampling_inputs import SamplingInputs
from backends.qwen3.sampling_rows import SamplingRows
from backends.qwen3.sequence_rows import SequenceRows
from backends.qwen3.step_command import IntArray, StepCommand


class InputBuffers:
    """Lays out steps that mix decode rows and chunks; what it returns is valid until the next call.

    Rows of one token come first, in batch order, then the chunks in batch order. `logits_rows` undoes the order:
    logits and samples are in batch order.

    Args:
        rows: tokens and blocks of live sequences.
        device: where the inputs go.
        num_tokens: tokens to make room for at first; a larger step takes a larger buffer.
    """

    def __init__(self, rows: SequenceRows, *, device: torch.device, num_tokens: int) -> None:
        self._rows = rows
        self._device = device
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
        step = _Step(command, self._rows)
        fields = self._lay_out(step)
        step.write(fields, self._rows)
        sampled = None
        if sampling is not None and command.samples.any():
            sampled_seats = command.seats[command.samples]
            write_sampling(fields, sampling, sampled_seats)
            positions = (command.first_positions + command.num_tokens)[command.samples]
            fields["sample_positions"].host[:] = positions
            sampled = sampling_inputs(fields, sampling, sampled_seats)
        self._buffer.upload(max(field.end for field in fields.values()))
        return step.forward_inputs(fields), sampled

    def _lay_out(self, step: "_Step") -> dict[str, Field]:
        specs = step.specs()
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


class _Step:
    """Columns of one step in the order in which it is computed."""

    def __init__(self, command: StepCommand, rows: SequenceRows) -> None:
        is_chunk = command.num_tokens > 1
        self._order = np.concatenate((np.flatnonzero(~is_chunk), np.flatnonzero(is_chunk)))
        self._seats = command.seats[self._order].astype(np.int64)
        self._firsts = command.first_positions[self._order].astype(np.int64)
        self._counts = command.num_tokens[self._order].astype(np.int64)
        self._contexts = self._firsts + self._counts
        self._ends = self._counts.cumsum()
        self._num_chunks = int(is_chunk.sum())
        self._num_decodes = len(self._order) - self._num_chunks
        self._samples = command.samples
        self._widths = [
            -(-int(contexts.max(initial=0)) // rows.block_size)
            for contexts in (self._contexts[: self._num_decodes], self._contexts[self._num_decodes :])
        ]

    def specs(self) -> tuple[FieldSpec, ...]:
        """Fields and their sizes."""
        num_tokens, num_decodes, num_chunks = int(self._ends[-1]), self._num_decodes, self._num_chunks
        num_wanted = max(1, int(self._samples.sum()))
        return (
            FieldSpec("token_ids", np.int64, (num_tokens,)),
            FieldSpec("positions", np.int64, (num_tokens,)),
            FieldSpec("slots", np.int64, (num_tokens,)),
            FieldSpec("logits_rows", np.int64, (num_wanted,)),
            FieldSpec("decode_context_lens", np.int32, (num_decodes,)),
            FieldSpec("chunk_query_starts", np.int32, (num_chunks + 1,)),
            FieldSpec("chunk_key_starts", np.int32, (num_chunks + 1,)),
            FieldSpec("chunk_context_lens", np.int32, (num_chunks,)),
            FieldSpec("decode_block_tables", np.int32, (num_decodes, self._widths[0])),
            FieldSpec("chunk_block_tables", np.int32, (num_chunks, self._widths[1])),
            *(FieldSpec(name, dtype, (num_wanted,)) for name, dtype in SAMPLING_FIELDS),
        )

    def write(self, fields: dict[str, Field], rows: SequenceRows) -> None:
        """Fill the fields that the model reads."""
        self._write_tokens(fields, rows)
        last_of_row = np.empty_like(self._ends)
        last_of_row[self._order] = self._ends - 1
        fields["logits_rows"].host[:] = last_of_row[self._samples] if self._samples.any() else 0

        split = self._num_decodes
        fields["decode_context_lens"].host[:] = self._contexts[:split]
        fields["chunk_context_lens"].host[:] = self._contexts[split:]
        _write_starts(fields["chunk_query_starts"].host, self._counts[split:])
        _write_starts(fields["chunk_key_starts"].host, self._contexts[split:])
        fields["decode_block_tables"].host[:] = rows.block_tables[self._seats[:split], : self._widths[0]]
        fields["chunk_block_tables"].host[:] = rows.block_tables[self._seats[split:], : self._widths[1]]

    def forward_inputs(self, fields: dict[str, Field]) -> ForwardInputs:
        """The model's view of the fields."""
        sampling_names = {name for name, _ in SAMPLING_FIELDS}
        device: dict[str, Any] = {name: field.device for name, field in fields.items() if name not in sampling_names}
        return ForwardInputs(
            num_decodes=self._num_decodes,
            max_query=int(self._counts[self._num_decodes :].max(initial=0)),
            max_context=int(self._contexts[self._num_decodes :].max(initial=0)),
            **device,
        )

    def _write_tokens(self, fields: dict[str, Field], rows: SequenceRows) -> None:
        seats = np.repeat(self._seats, self._counts)
        positions = fields["positions"].host
        # Position of token t of a row that begins at token b of the step: first + (t - b).
        positions[:] = np.repeat(self._firsts - (self._ends - self._counts), self._counts)
        positions += np.arange(len(positions))
        rows.gather(seats, positions, token_ids=fields["token_ids"].host, slots=fields["slots"].host)


def _write_starts(starts: NDArray[np.int32], lengths: NDArray[np.int64]) -> None:
    starts[0] = 0
    np.cumsum(lengths, out=starts[1:])
