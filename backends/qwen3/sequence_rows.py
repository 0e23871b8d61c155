"""What a rank knows of each live sequence: its tokens and its blocks, in arrays that are filled, never rebuilt."""

import numpy as np
from numpy.typing import NDArray


class SequenceRows:
    """One row a sequence; a sequence keeps its row, here called its seat, from admission to release.

        token_ids     seat 0 | 17 4 99 8 3 ....      known so far; positions not known yet hold anything
        block_tables  seat 0 | 5 6 2 0 0 0 ...       block ids in order, zeros after them

    The arrays have one column for each possible position, but the memory of pages never touched is never taken.

    Attributes:
        block_size: tokens in a block.
        token_ids: int32 [seats, max_model_len].
        block_tables: int32 [seats, blocks of max_model_len].
    """

    def __init__(self, num_seats: int, max_model_len: int, block_size: int) -> None:
        """Make room.

        Args:
            num_seats: sequences to make room for at first; more are made when a seat beyond is taken.
            max_model_len: most tokens of a sequence.
            block_size: tokens in a block.
        """
        self.block_size = block_size
        self.token_ids = np.zeros((num_seats, max_model_len), dtype=np.int32)
        self.block_tables = np.zeros((num_seats, -(-max_model_len // block_size)), dtype=np.int32)
        self._num_blocks = np.zeros(num_seats, dtype=np.int64)
        self._num_tokens = np.zeros(num_seats, dtype=np.int64)

    def admit(self, seat: int, token_ids: NDArray[np.int32], block_table: NDArray[np.int32]) -> None:
        """Let a sequence take a free seat with all its tokens and blocks."""
        while seat >= len(self._num_blocks):
            self._double()
        self.token_ids[seat, : len(token_ids)] = token_ids
        self.block_tables[seat, : len(block_table)] = block_table
        self._num_tokens[seat] = len(token_ids)
        self._num_blocks[seat] = len(block_table)

    def release(self, seat: int) -> None:
        """Free a seat. Its block table is cleared, so that no later owner sees a stale tail."""
        self.block_tables[seat, : self._num_blocks[seat]] = 0
        self._num_blocks[seat] = self._num_tokens[seat] = 0

    def append_blocks(self, seats: NDArray[np.int32], counts: NDArray[np.int32], block_ids: NDArray[np.int32]) -> None:
        """Let block tables grow.

        Args:
            seats: [G] whose, each at most once.
            counts: [G] how many blocks each gets.
            block_ids: [sum of counts] the blocks, seat after seat.
        """
        if not len(seats):  # most steps
            return
        firsts = self._num_blocks[seats]
        within = np.arange(len(block_ids)) - np.repeat(np.cumsum(counts) - counts, counts)
        self.block_tables[np.repeat(seats, counts), np.repeat(firsts, counts) + within] = block_ids
        self._num_blocks[seats] = firsts + counts

    def append_tokens(
        self, seats: NDArray[np.int32], positions: NDArray[np.int32], token_ids: NDArray[np.int32]
    ) -> None:
        """Note one new token for each of `seats`; a token beyond the longest sequence is the last of its sequence.

        Args:
            seats: [S] whose, each at most once.
            positions: [S] position of the new token, from 0.
            token_ids: [S].
        """
        if not len(seats):
            return
        if positions.max() >= self.token_ids.shape[1]:
            is_inside = positions < self.token_ids.shape[1]
            seats, positions, token_ids = seats[is_inside], positions[is_inside], token_ids[is_inside]
        self.token_ids[seats, positions] = token_ids
        self._num_tokens[seats] = positions + 1

    def gather(
        self,
        seats: NDArray[np.int64],
        positions: NDArray[np.int64],
        *,
        token_ids: NDArray[np.int64],
        slots: NDArray[np.int64],
    ) -> None:
        """Write the tokens at `positions` of `seats` and the cache slots that they have; all arrays [N]."""
        # One flat index and no divmod: the two are what makes this quick for the tokens of a long prefill.
        token_ids[:] = self.token_ids.reshape(-1).take(seats * self.token_ids.shape[1] + positions)
        blocks = positions // self.block_size
        slots[:] = self.block_tables.reshape(-1).take(seats * self.block_tables.shape[1] + blocks)
        slots -= blocks
        slots *= self.block_size
        slots += positions

    def blocks_of(self, seat: int) -> NDArray[np.int32]:
        """The block table of one seat, a copy."""
        return self.block_tables[seat, : self._num_blocks[seat]].copy()

    def _double(self) -> None:
        old_tokens, old_tables = self.token_ids, self.block_tables
        num_seats = len(self._num_blocks)
        self.token_ids = np.zeros((2 * num_seats, old_tokens.shape[1]), dtype=np.int32)
        self.block_tables = np.zeros((2 * num_seats, old_tables.shape[1]), dtype=np.int32)
        for seat in range(num_seats):  # only what is in use, so that the other pages stay untouched
            tokens, blocks = self._num_tokens[seat], self._num_blocks[seat]
            self.token_ids[seat, :tokens] = old_tokens[seat, :tokens]
            self.block_tables[seat, :blocks] = old_tables[seat, :blocks]
        self._num_blocks = np.concatenate((self._num_blocks, np.zeros(num_seats, dtype=np.int64)))
        self._num_tokens = np.concatenate((self._num_tokens, np.zeros(num_seats, dtype=np.int64)))
