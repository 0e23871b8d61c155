"""Inputs of captured decode steps: the same memory at every step, since a graph remembers addresses."""

import numpy as np
import torch

from backends.qwen3.decode_stage import DecodeStage
from backends.qwen3.forward_inputs import ForwardInputs
from backends.qwen3.input_buffers import SAMPLING_FIELDS
from backends.qwen3.packed_buffer import FieldSpec, PackedBuffer
from backends.qwen3.sampling_inputs import SamplingInputs
from backends.qwen3.sampling_rows import SamplingRows
from backends.qwen3.sequence_rows import SequenceRows
from backends.qwen3.step_command import StepCommand
from backends.qwen3.table_widths import TableWidths


class DecodeBuffers:
    """Rows of one token each, in batch order, padded up to a captured size.

    Row columns and, behind them, the block tables of the rows (only as wide as the step needs) travel in one copy; on
    the device the tables are then spread to the full width that the graphs were captured with. There are two stages on
    the host, so that the next step can be written while the device works on this one: what the host does between two
    steps is what everybody waits for.

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
        self._buffer = PackedBuffer(sum(spec.num_bytes for spec in specs), device, _NUM_STAGES)
        layouts = [self._buffer.lay_out(specs, copy) for copy in range(_NUM_STAGES)]
        self._fields = layouts[0]
        self._stages = [DecodeStage(fields, rows) for fields in layouts]
        self._current = 0
        self._is_foreseen = self._has_tables = False
        self._block_tables = torch.zeros((max_rows, width), dtype=torch.int32, device=device)
        self._empty = torch.zeros(0, dtype=torch.int32, device=device)
        self._starts = torch.zeros(1, dtype=torch.int32, device=device)
        self._stages[0].pad(0, max_rows)
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
        num_rows = command.num_rows
        assert num_rows <= size, f"{num_rows} rows for a graph of {size}"
        other = 1 - self._current
        before, stage = self._stages[self._current], self._stages[other]
        is_foreseen, has_tables = self._is_foreseen, self._has_tables
        self.forget()
        if is_foreseen and stage.is_of(command, size) and stage.take_blocks(command.grown):
            stage.take_tokens(command.new_tokens.token_ids)
            is_spread = has_tables and stage.width == before.width and not len(command.grown.seats)
        else:
            stage.write(command.seats, command.first_positions, size, sampling)
            is_spread = False
        assert stage.width <= self.widths.full, f"{stage.width} blocks for a graph of {self.widths.full}"
        self._current = other
        self._send(stage, is_spread)
        self._has_tables = True

    def foresee(self, command: StepCommand, size: int, sampling: SamplingRows | None) -> None:
        """Write the step that follows the one filled last if the same rows go on, while the device is busy.

        Args:
            command: as in the last `fill`, like the others.
            size: captured size.
            sampling: how sequences are sampled; None on a rank that does not sample.
        """
        if self.width_of(command) < self.widths.full:  # else a row may have come to the end of its table
            self._stages[1 - self._current].foresee(command, size, sampling)
            self._is_foreseen = True

    def forget(self) -> None:
        """Another step comes between: what is foreseen is not the next one, and tables on the device become old."""
        self._is_foreseen = self._has_tables = False

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
        return self._stages[self._current].sampling

    def _send(self, stage: DecodeStage, is_spread: bool) -> None:
        """Copy a stage to the device, with its tables unless they are there."""
        staged, num_staged = self._fields["staged_tables"], 0 if is_spread else stage.num_table_entries
        num_bytes = staged.end - staged.host.nbytes + num_staged * staged.host.itemsize
        self._buffer.upload(num_bytes, self._current)
        if not is_spread:
            num_rows, width = len(stage.seats), stage.width
            self._block_tables[:num_rows, :width].copy_(staged.device[:num_staged].view(num_rows, width))


_NUM_STAGES = 2
_ROW_FIELDS = (
    ("token_ids", np.int64),
    ("positions", np.int64),
    ("slots", np.int64),
    ("context_lens", np.int32),
)
