"""What every rank is told of one step: only what has changed, in seats and arrays."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int32]


class SeatedSequence(NamedTuple):
    """A sequence that is admitted in this step.

    Attributes:
        seat: its number from now on.
        token_ids: all its tokens so far.
        block_table: all its blocks.
        num_hit_blocks: leading blocks that held its tokens before.
    """

    seat: int
    token_ids: IntArray
    block_table: IntArray
    num_hit_blocks: int


class SeatTokens(NamedTuple):
    """Tokens that a step has given: one for each of `seats`, at `positions`."""

    seats: IntArray
    positions: IntArray
    token_ids: IntArray


class SeatBlocks(NamedTuple):
    """Blocks that sequences have got: `counts[i]` for `seats[i]`, one after the other in `block_ids`."""

    seats: IntArray
    counts: IntArray
    block_ids: IntArray


@dataclass(frozen=True, slots=True, kw_only=True)
class StepCommand:
    """One step; entry i of a column belongs to row i of the batch.

    The same array object in two commands means the same rows, so that who prepares inputs can keep them. To be applied
    in this order: `new_tokens`, `failed`, `released`, `admitted`, `grown`, then the rows are computed.

    Attributes:
        new_tokens: what the step before gave.
        failed: seats whose last row gave no numbers; what they wrote to the cache must not be left there.
        released: seats that are free now.
        admitted: sequences that have taken a seat.
        grown: blocks that sequences admitted earlier have got.
        seats: int32 [rows].
        first_positions: int32 [rows], position of the first token computed.
        num_tokens: int32 [rows], tokens computed.
        samples: bool [rows], whether the row yields a token.
    """

    new_tokens: SeatTokens
    failed: tuple[int, ...]
    released: tuple[int, ...]
    admitted: tuple[SeatedSequence, ...]
    grown: SeatBlocks
    seats: IntArray
    first_positions: IntArray
    num_tokens: IntArray
    samples: NDArray[np.bool_]

    @property
    def num_rows(self) -> int:
        """Rows of the batch."""
        return len(self.seats)
