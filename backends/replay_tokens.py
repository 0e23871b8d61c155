"""Output tokens of a replayed trace."""

import zlib

import numpy as np

from engine.batch import Batch
from engine.stretch import Stretch

# CPython multiplies numbers of up to 30 bits fastest.
_MASK = (1 << 30) - 1


class ReplayTokens:
    """Output tokens as a fixed function of (request id, position), the same in every process and on every backend.

    A trace holds lengths, not texts. A simulated and a real backend that both feed these tokens back hash the same
    blocks, so that the prefix cache decides alike on both.

    Args:
        vocab_size: tokens are 0 .. vocab_size - 1.
    """

    def __init__(self, vocab_size: int) -> None:
        self._vocab_size = vocab_size
        self._seeds: dict[str, int] = {}

    def sample(self, batch: Batch) -> tuple[int, ...]:
        """One token for each sampling row of `batch`, in batch order.

        Batches must come in the order in which they were made: a request's state lives from the batch that admits it
        to the one that releases it.
        """
        self._release(batch.released)
        for admission in batch.admitted:
            self._seeds[admission.request_id] = _seed(admission.request_id)
        seeds, vocab_size = self._seeds, self._vocab_size
        if batch.shape.num_prefill_seqs or batch.shape.num_sampled < len(batch.request_ids):
            rows = zip(batch.request_ids, batch.first_positions, batch.num_tokens, batch.samples, strict=True)
            return tuple([_token(seeds[row], first + num, vocab_size) for row, first, num, samples in rows if samples])
        # The common case, written out because it runs for every token of every decode step.
        decode_rows = zip(batch.request_ids, batch.first_positions, strict=True)
        return tuple([(seeds[row] * (first + 1) & _MASK) % vocab_size for row, first in decode_rows])

    def sample_many(self, stretch: Stretch, num_steps: int) -> list[list[int]]:
        """For each row of a stretch its tokens of the first `num_steps` steps; see `sample`."""
        self._release(stretch.released)
        seeds = np.array([self._seeds[request_id] for request_id in stretch.request_ids])
        positions = np.array(stretch.first_positions)[:, None] + np.arange(1, num_steps + 1)
        tokens: list[list[int]] = ((seeds[:, None] * positions & _MASK) % self._vocab_size).tolist()
        return tokens

    def _release(self, request_ids: tuple[str, ...]) -> None:
        for request_id in request_ids:
            self._seeds.pop(request_id, None)


def _seed(request_id: str) -> int:
    """Odd, so that multiples of it differ modulo a power of two."""
    return zlib.crc32(request_id.encode()) & _MASK | 1


def _token(seed: int, position: int, vocab_size: int) -> int:
    return (seed * position & _MASK) % vocab_size
