"""Steps by hand: sequences with blocks of their own, and the inputs of any step on them, built as the backend does."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import torch

from backends.qwen3.forward_inputs import ForwardInputs
from backends.qwen3.input_buffers import InputBuffers
from backends.qwen3.sequence_rows import SequenceRows
from backends.qwen3.step_command import SeatBlocks, SeatTokens, StepCommand

_NONE = np.zeros(0, dtype=np.int32)


class Row(NamedTuple):
    """Tokens `first` .. `end` - 1 of the sequence in `seat`; one token is a decode row."""

    seat: int
    first: int
    end: int


class StepRows:
    """Sequences in seats 0, 1, ...; their blocks are scattered over a pool in which no sequence owns block 0.

    Attributes:
        rows: tokens and block tables.
        num_blocks: blocks of the pool.
        free_blocks: ids of blocks that no sequence owns; 0 is one.
    """

    def __init__(
        self, sequences: Sequence[Sequence[int]], *, block_size: int, num_spare_blocks: int = 0, seed: int = 0
    ) -> None:
        """Seat all sequences.

        Args:
            sequences: tokens of each.
            block_size: tokens in a KV block.
            num_spare_blocks: how many blocks more than the longest sequence has a block table can hold.
            seed: of the block ids.
        """
        widths = [-(-len(tokens) // block_size) for tokens in sequences]
        num_owned = sum(widths)
        self.num_blocks = num_owned + 4
        ids = np.random.default_rng(seed).permutation(np.arange(1, self.num_blocks)).astype(np.int32)
        self.free_blocks = [0, *ids[num_owned:].tolist()]
        max_model_len = (max(widths) + num_spare_blocks) * block_size
        self.rows = SequenceRows(len(sequences), max_model_len, block_size)
        tables = np.split(ids[:num_owned], np.cumsum(widths)[:-1])
        for seat, (tokens, table) in enumerate(zip(sequences, tables, strict=True)):
            self.rows.admit(seat, np.array(tokens, dtype=np.int32), table)

    def command(self, rows: Sequence[Row]) -> StepCommand:
        """The command of a step that samples nothing."""
        seats, firsts, ends = (np.array(column, dtype=np.int32) for column in zip(*rows, strict=True))
        return StepCommand(
            new_tokens=SeatTokens(_NONE, _NONE, _NONE),
            failed=(),
            released=(),
            admitted=(),
            grown=SeatBlocks(_NONE, _NONE, _NONE),
            seats=seats,
            first_positions=firsts,
            num_tokens=ends - firsts,
            samples=np.zeros(len(rows), dtype=np.bool_),
        )

    def inputs(self, rows: Sequence[Row], device: torch.device) -> ForwardInputs:
        """Inputs of a step with all logits wanted; its tokens are those of decode rows, then those of chunks."""
        # A buffer of its own for each step, so that inputs stay valid.
        buffers = InputBuffers(self.rows, device=device, num_tokens=64)
        return replace(buffers.build(self.command(rows), None)[0], logits_rows=None)


def in_order_of_inputs(rows: Sequence[Row]) -> list[Row]:
    """Decode rows first, as inputs have them."""
    return sorted(rows, key=lambda row: row.end - row.first > 1)
