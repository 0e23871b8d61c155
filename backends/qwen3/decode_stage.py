"""The host's copy of the inputs of one captured decode step."""

import numpy as np
from numpy.typing import NDArray

from backends.qwen3.input_buffers import sampling_inputs, write_sampling
from backends.qwen3.packed_buffer import Field
from backends.qwen3.sampling_inputs import SamplingInputs
from backends.qwen3.sampling_rows import SamplingRows
from backends.qwen3.sequence_rows import SequenceRows
from backends.qwen3.step_command import IntArray, SeatBlocks, StepCommand

_NOBODY = np.zeros(0, dtype=np.int32)


class DecodeStage:
    """Rows of one token each, in batch order, padded up to a captured size.

    It can be written before the tokens are known, for the step that follows if the same rows go on:

        device    | step k        | step k + 1
        host            write for k + 1 | take_tokens, upload

    Args:
        fields: row columns, sampling columns and `staged_tables`, as `DecodeBuffers` lays them out.
        rows: tokens and blocks of live sequences.

    Attributes:
        seats: int32 [rows], as written.
        positions: int32 [rows], of the tokens computed.
        size: captured size.
        width: blocks of the longest row.
        sampling: what the sampler reads of it, without padding; None on a rank without sampler.
    """

    def __init__(self, fields: dict[str, Field], rows: SequenceRows) -> None:
        self._fields = fields
        self._rows = rows
        self._row_of_seat = np.zeros(0, dtype=np.int64)
        self._sampled_seats: IntArray | None = None
        self.seats = self.positions = _NOBODY
        self.size = self.width = 0
        self.sampling: SamplingInputs | None = None

    @property
    def num_table_entries(self) -> int:
        """Entries of the staged tables, one row of `width` after the other."""
        return len(self.seats) * self.width

    def write(self, seats: IntArray, positions: IntArray, size: int, sampling: SamplingRows | None) -> None:
        """Write everything, with the tokens as far as they are known.

        Args:
            seats: [rows].
            positions: [rows], of the tokens computed.
            size: captured size, at least the number of rows.
            sampling: how sequences are sampled; None on a rank that does not sample.
        """
        num_rows = len(seats)
        self.seats, self.positions, self.size = seats, positions, size
        self.width = int(positions.max()) // self._rows.block_size + 1
        self.pad(num_rows, size)
        self._host("positions")[:num_rows] = positions
        np.add(positions, 1, out=self._host("context_lens")[:num_rows])
        self._write_rows(slice(num_rows))
        if sampling is not None:
            self._write_sampling(sampling)

    def take_tokens(self, token_ids: IntArray) -> None:
        """Write the tokens of all rows, int32 [rows]."""
        self._host("token_ids")[: len(token_ids)] = token_ids

    def take_blocks(self, grown: SeatBlocks) -> bool:
        """Write the rows anew that have got blocks since; False, and nothing written, if others than rows have."""
        if not len(grown.seats):
            return True
        if grown.seats.max() >= len(self._row_of_seat):
            return False
        grown_rows = self._row_of_seat[grown.seats]
        if grown_rows.max() >= len(self.seats) or (self.seats[grown_rows] != grown.seats).any():
            return False
        self._write_rows(grown_rows)
        return True

    def pad(self, first: int, size: int) -> None:
        """Make rows from `first` on read and write nothing; nobody looks at what they compute."""
        self._host("slots")[first:size] = -1
        for name in ("token_ids", "positions", "context_lens"):
            self._host(name)[first:size] = 0

    def _write_rows(self, which: "slice | NDArray[np.int64]") -> None:
        """Tokens, slots and block tables of some rows, whose positions are written."""
        seats, positions = self.seats[which].astype(np.int64), self._host("positions")[which]
        token_ids, slots = np.empty_like(positions), np.empty_like(positions)
        self._rows.gather(seats, positions, token_ids=token_ids, slots=slots)
        self._host("token_ids")[which], self._host("slots")[which] = token_ids, slots
        tables = self._host("staged_tables")[: self.num_table_entries].reshape(len(self.seats), self.width)
        tables[which] = self._rows.block_tables[seats, : self.width]

    def _write_sampling(self, sampling: SamplingRows) -> None:
        """Settings are written only when the rows are others than before; they do not change under way."""
        if self.seats is not self._sampled_seats:
            write_sampling(self._fields, sampling, self.seats)
            self.sampling = sampling_inputs(self._fields, sampling, self.seats)
            self._sampled_seats = self.seats
        np.add(self.positions, 1, out=self._host("sample_positions")[: len(self.seats)])

    def foresee(self, command: StepCommand, size: int, sampling: SamplingRows | None) -> None:
        """Write the step after `command` if the same rows go on."""
        self.write(command.seats, command.first_positions + 1, size, sampling)
        if len(self._row_of_seat) < len(self._rows.token_ids):
            self._row_of_seat = np.zeros(len(self._rows.token_ids), dtype=np.int64)
        self._row_of_seat[self.seats] = np.arange(len(self.seats))

    def is_of(self, command: StepCommand, size: int) -> bool:
        """Whether the last step foreseen is this one, tokens and blocks aside, and its tokens are at hand."""
        new = command.new_tokens
        if command.released or command.admitted or size != self.size:
            return False
        pairs = (
            (command.seats, self.seats),
            (command.first_positions, self.positions),
            (new.seats, self.seats),
            (new.positions, self.positions),
        )
        # All are int32. Comparing bytes takes a tenth of the time that comparing arrays does.
        return all(one is other or one.tobytes() == other.tobytes() for one, other in pairs)

    def _host(self, name: str) -> NDArray[np.generic]:
        return self._fields[name].host
