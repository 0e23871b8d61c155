"""Inputs of captured decode steps: the same memory at every step, since a graph remembers addresses."""

import numpy as np
import torch

from backends.qwen3.forward_inputs import ForwardInputs
from backends.qwen3.input_buffers import SAMPLING_FIELDS, sampling_inputs, write_sampling
from backends.qwen3.packed_buffer import Field, FieldSpec, PackedBuffer
from backends.qwen3.sampling_inputs import SamplingInputs
from backends.qwen3.sampling_rows import SamplingRows
from backends.qwen3.sequence_rows import SequenceRows
from backends.qwen3.step_command import IntArray, StepCommand
from backends.qwen3.table_widths import TableWidths


class DecodeBuffers:
    """Rows of one token each, in batch order, padded up to a captured size.

    Row columns and, behind them, the block tables of the rows (only as wide as the step needs) travel in one copy; on
    the device the tables are then spread to the full width that the graphs were captured with.

    Args:
        rows: tokens and blocks of live sequences.
        max_rows: largest captured size.
        widths: of the captured block tables; a sequence longer than the full width must run eager.
        device: where the graphs run.

    Attributes:
        widths: as given.
    """

    def __init__(self, rows: SequenceRows, *, max_rows: int, widths: TableWidths, device: torch.device) -> None:
        self.widths = widths
        width = widths.full
        self._rows = rows
        specs = [FieldSpec(name, dtype, (max_rows,)) for name, dtype in (*_ROW_FIELDS, *SAMPLING_FIELDS)]
        specs.append(FieldSpec("staged_tables", np.int32, (max_rows * width,)))
        self._buffer = PackedBuffer(sum(spec.num_bytes for spec in specs), device)
        self._fields = self._buffer.lay_out(specs)
        self._block_tables = torch.zeros((max_rows, width), dtype=torch.int32, device=device)
        self._empty = torch.zeros(0, dtype=torch.int32, device=device)
        self._starts = torch.zeros(1, dtype=torch.int32, device=device)
        self._sampled_seats: IntArray | None = None
        self._sampling: SamplingInputs | None = None
        self._pad_rows(0, max_rows)
        self._buffer.upload(self._buffer.num_bytes)

    def width_of(self, command: StepCommand) -> int:
        """Blocks that the longest row of a decode step reads."""
        return int(command.first_positions.max()) // self._rows.block_size + 1

    def fill(self, command: StepCommand, size: int, sampling: SamplingRows | None) -> None:
        """Send one decode step.

        Args:
            command: rows of one token each, no longer than the full width, already applied to the sequence rows.
            size: captured size, at least the number of rows.
            sampling: how sequences are sampled; None on a rank that does not sample.
        """
        num_rows, width = command.num_rows, self.width_of(command)
        assert num_rows <= size, f"{num_rows} rows for a graph of {size}"
        assert width <= self.widths.full, f"{width} blocks for a graph of {self.widths.full}"
        self._pad_rows(num_rows, size)
        self._write_rows(command)
        if sampling is not None:
            self._write_sampling(command, sampling)
        staged = self._fields["staged_tables"]
        num_staged = num_rows * width
        staged.host[:num_staged].reshape(num_rows, width)[:] = self._rows.block_tables[command.seats, :width]
        self._buffer.upload(staged.end - staged.host.nbytes + num_staged * staged.host.itemsize)
        self._block_tables[:num_rows, :width].copy_(staged.device[:num_staged].view(num_rows, width))

    def forward_inputs(self, size: int, width: int) -> ForwardInputs:
        """What the model reads in a step of `size` rows, padding included, if no row has more than `width` blocks.

        The same memory at each call; narrow tables are the left part of wide ones.
        """
        fields = self._fields
        return ForwardInputs(
            token_ids=fields["token_ids"].device[:size],
            positions=fields["positions"].device[:size],
            slots=fields["slots"].device[:size],
            num_decodes=size,
            decode_block_tables=self._block_tables[:size, :width],
            decode_context_lens=fields["context_lens"].device[:size],
            chunk_query_starts=self._starts,
            chunk_key_starts=self._starts,
            chunk_context_lens=self._empty,
            chunk_block_tables=self._empty.view(0, 0),
            max_query=0,
            max_context=0,
        )

    def sampling(self) -> SamplingInputs | None:
        """What the sampler reads in the step that was filled last, without padding; None on a rank without sampler."""
        return self._sampling

    def _write_sampling(self, command: StepCommand, sampling: SamplingRows) -> None:
        """Settings are written only when the rows are others than before; they do not change under way."""
        if command.seats is not self._sampled_seats:
            write_sampling(self._fields, sampling, command.seats)
            self._sampling = sampling_inputs(self._fields, sampling, command.seats)
            self._sampled_seats = command.seats
        np.add(command.first_positions, 1, out=self._host("sample_positions")[: command.num_rows], dtype=np.int64)

    def _write_rows(self, command: StepCommand) -> None:
        num_rows = command.num_rows
        token_ids, positions, slots, context_lens = [self._host(name)[:num_rows] for name, _ in _ROW_FIELDS]
        positions[:] = command.first_positions
        np.add(positions, 1, out=context_lens, casting="same_kind")
        self._rows.gather(command.seats.astype(np.int64), positions, token_ids=token_ids, slots=slots)

    def _pad_rows(self, first: int, size: int) -> None:
        """Rows that read and write nothing; nobody looks at what they compute."""
        self._host("slots")[first:size] = -1
        for name in ("token_ids", "positions", "context_lens"):
            self._host(name)[first:size] = 0

    def _host(self, name: str) -> np.ndarray:
        field: Field = self._fields[name]
        return field.host


_ROW_FIELDS = (
    ("token_ids", np.int64),
    ("positions", np.int64),
    ("slots", np.int64),
    ("context_lens", np.int32),
)
