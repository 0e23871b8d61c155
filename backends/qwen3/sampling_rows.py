"""How each live sequence is sampled, as columns that a batch picks its rows from."""

import hashlib

import numpy as np
from numpy.typing import NDArray

from engine.sampling_params import SamplingParams

GREEDY_BELOW = 1e-5
"""A temperature below this is greedy: the noise would be smaller than a float32 logit can show."""
_HOTTEST = 1e9
"""Hotter than this is as even a draw as float32 can make; capped, so that noise x temperature stays finite."""
_WORD = (1 << 64) - 1


class SamplingRows:
    """Sampling settings by seat; only the rank that samples has them.

    Attributes:
        temperatures: float32 [seats]; 0 = greedy.
        top_ks: int32 [seats]; the vocabulary size = all.
        top_ps: float32 [seats]; 1 = all.
        keys: int64 [seats], what the random numbers of the sequence derive from.
        has_filter: bool [seats], whether top-k or top-p keeps only some tokens.
    """

    def __init__(self, num_seats: int, vocab_size: int, seed: int) -> None:
        """Make room.

        Args:
            num_seats: sequences to make room for at first.
            vocab_size: most tokens that top-k can keep.
            seed: what requests without a seed of their own draw from.
        """
        self._vocab_size = vocab_size
        self._seed = seed
        self.temperatures = np.zeros(num_seats, dtype=np.float32)
        self.top_ks = np.full(num_seats, vocab_size, dtype=np.int32)
        self.top_ps = np.ones(num_seats, dtype=np.float32)
        self.keys = np.zeros(num_seats, dtype=np.int64)
        self.has_filter = np.zeros(num_seats, dtype=np.bool_)

    def admit(self, seat: int, request_id: str, params: SamplingParams) -> None:
        """Let a request take a free seat."""
        while seat >= len(self.keys):
            self._double()
        is_greedy = params.temperature < GREEDY_BELOW
        top_k = self._vocab_size if params.top_k is None or is_greedy else min(params.top_k, self._vocab_size)
        # A top_p that float32 rounds up to 1 keeps all but a 2**-25 of the probability: as good as all.
        top_p = np.float32(1 if is_greedy else params.top_p)
        self.temperatures[seat] = 0 if is_greedy else min(params.temperature, _HOTTEST)
        self.top_ks[seat], self.top_ps[seat] = top_k, top_p
        self.keys[seat] = sampling_key(request_id, params.seed, self._seed)
        self.has_filter[seat] = top_k < self._vocab_size or top_p < 1

    def _double(self) -> None:
        for name in ("temperatures", "top_ks", "top_ps", "keys", "has_filter"):
            column: NDArray[np.generic] = getattr(self, name)
            setattr(self, name, np.concatenate((column, np.zeros_like(column))))


def sampling_key(request_id: str, seed: int | None, backend_seed: int) -> int:
    """64 bits, as a signed number, that all random numbers of a request derive from.

    A request's own seed alone decides, else the backend's seed with the request's id.
    """
    source = f"backend {backend_seed} {request_id}" if seed is None else f"request {seed}"
    return int.from_bytes(hashlib.blake2b(source.encode(), digest_size=8).digest(), "little", signed=True)
