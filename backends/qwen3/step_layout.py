"""The rows of a step in the order in which they are computed."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from backends.qwen3.sequence_rows import SequenceRows
from backends.qwen3.step_command import StepCommand

Columns = dict[str, NDArray[Any]]


class StepLayout:
    """Decode rows first, in batch order, then the chunks in batch order.

        batch   chunk A (3 tokens), decode B, chunk C (2), decode D
        tokens  B D A A A C C

    Args:
        command: the step, already applied to the rows.
        rows: tokens and blocks of live sequences.

    Attributes:
        num_tokens: tokens in all.
        num_decodes: decode rows, each one token.
        num_chunks: rows of two tokens or more.
        num_sampled: rows that yield a token.
        decode_width: blocks that the longest decode row reads; 0 without decode rows.
        chunk_width: likewise of the chunks.
        max_query: most tokens of a chunk; 0 without chunks.
        max_context: largest context of a chunk; 0 without chunks.
    """

    def __init__(self, command: StepCommand, rows: SequenceRows) -> None:
        is_chunk = command.num_tokens > 1
        self._rows = rows
        self._order = np.concatenate((np.flatnonzero(~is_chunk), np.flatnonzero(is_chunk)))
        self._seats = command.seats[self._order].astype(np.int64)
        self._firsts = command.first_positions[self._order].astype(np.int64)
        self._counts = command.num_tokens[self._order].astype(np.int64)
        self._contexts = self._firsts + self._counts
        self._ends = self._counts.cumsum()
        self._samples = command.samples
        self.num_tokens = int(self._ends[-1])
        self.num_chunks = int(is_chunk.sum())
        self.num_decodes = split = len(self._order) - self.num_chunks
        self.num_sampled = int(command.samples.sum())
        self.decode_width, self.chunk_width = [
            -(-int(contexts.max(initial=0)) // rows.block_size)
            for contexts in (self._contexts[:split], self._contexts[split:])
        ]
        self.max_query = int(self._counts[split:].max(initial=0))
        self.max_context = int(self._contexts[split:].max(initial=0))

    @property
    def num_wanted(self) -> int:
        """Rows whose logits are wanted: those that yield a token, or one, since kernels want at least one."""
        return max(1, self.num_sampled)

    def write_tokens(self, columns: Columns) -> None:
        """Fill `token_ids`, `positions` and `slots` [num_tokens], and `logits_rows` [num_wanted], in batch order."""
        seats = np.repeat(self._seats, self._counts)
        positions = columns["positions"]
        # Position of token t of a row that begins at token b of the step: first + (t - b).
        positions[:] = np.repeat(self._firsts - (self._ends - self._counts), self._counts)
        positions += np.arange(len(positions))
        self._rows.gather(seats, positions, token_ids=columns["token_ids"], slots=columns["slots"])
        last_of_row = np.empty_like(self._ends)
        last_of_row[self._order] = self._ends - 1
        columns["logits_rows"][:] = last_of_row[self._samples] if self.num_sampled else 0

    def write_lengths(self, columns: Columns, *, first_chunk_row: int) -> None:
        """Fill `decode_context_lens` and what is said of chunks.

        Args:
            columns: `decode_context_lens` [num_decodes], `chunk_context_lens` [num_chunks], and `chunk_query_starts`
                and `chunk_key_starts` [num_chunks + 1].
            first_chunk_row: what query starts count from.
        """
        split = self.num_decodes
        columns["decode_context_lens"][:] = self._contexts[:split]
        columns["chunk_context_lens"][:] = self._contexts[split:]
        _write_starts(columns["chunk_query_starts"], first_chunk_row, self._counts[split:])
        _write_starts(columns["chunk_key_starts"], 0, self._contexts[split:])

    def write_tables(self, decode_tables: NDArray[np.int32], chunk_tables: NDArray[np.int32]) -> None:
        """Fill the block tables [num_decodes, any width up to the rows'] and [num_chunks, likewise]."""
        tables, split = self._rows.block_tables, self.num_decodes
        decode_tables[:] = tables[self._seats[:split], : decode_tables.shape[1]]
        chunk_tables[:] = tables[self._seats[split:], : chunk_tables.shape[1]]


def _write_starts(starts: NDArray[np.int32], first: int, lengths: NDArray[np.int64]) -> None:
    starts[0] = first
    np.cumsum(lengths, out=starts[1:])
    starts[1:] += first
