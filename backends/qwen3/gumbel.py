"""Noise that makes an argmax a sample: Gumbel numbers as a fixed function of (key, position, token).

Counter-based, so that a request draws the same numbers in any row of any batch, on any device and after a preemption.
The generator is Philox4x32 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011) with 7 rounds, the
fewest that pass their tests. One call yields four words; token v uses

    tile = v // 4096, lane = (v % 4096) // 1024, column = v % 1024
    word `lane` of philox(counter = (tile * 1024 + column, position, 0, 0), key)

so that a kernel that works on one tile of 4096 tokens makes 1024 calls and wastes none. `sampler_kernels` has the same
in Triton.
"""

import torch

NUM_ROUNDS = 7
TILE_COLUMNS = 1024
TILE_TOKENS = 4 * TILE_COLUMNS

_WORD = 0xFFFFFFFF
_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
_WEYL = (0x9E3779B9, 0xBB67AE85)
LARGEST_UNIFORM = 1 - 2.0**-24
SERIES_BELOW = 2.0**-6


def philox(
    counter: tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor],
    key: tuple[torch.Tensor, torch.Tensor],
    num_rounds: int = NUM_ROUNDS,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Philox4x32 on int64 tensors that hold 32-bit words; shapes broadcast."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(num_rounds):
        high0, low0 = _multiply(_MULTIPLIERS[0], c0)
        high1, low1 = _multiply(_MULTIPLIERS[1], c2)
        c0, c1, c2, c3 = high1 ^ c1 ^ k0, low1, high0 ^ c3 ^ k1, low0
        k0, k1 = (k0 + _WEYL[0]) & _WORD, (k1 + _WEYL[1]) & _WORD
    return c0, c1, c2, c3


def _multiply(factor: int, words: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    # The 64-bit product may wrap into the sign bit; its bits are right, and only bits are taken.
    product = words * factor
    return (product >> 32) & _WORD, product & _WORD


def gumbel_from_words(words: torch.Tensor) -> torch.Tensor:
    """Standard Gumbel numbers, float32 and always finite, from uniform 32-bit words.

    -log(-log(1 - u)): u near 0 makes the large numbers that decide an argmax, and there float32 has digits to spare.
    """
    uniform = ((words.to(torch.float32) + 0.5) * 2.0**-32).clamp(max=LARGEST_UNIFORM)
    series = uniform * (1 + uniform * (0.5 + uniform * (1 / 3 + uniform * 0.25)))
    exponential = torch.where(uniform < SERIES_BELOW, series, -torch.log(1 - uniform))
    return -torch.log(exponential)


def gumbel(keys: torch.Tensor, positions: torch.Tensor, num_tokens: int) -> torch.Tensor:
    """Gumbel numbers of all tokens of a vocabulary.

    Args:
        keys: int64 [S], the 64 bits of each row's key.
        positions: int64 [S], position of the token that is sampled.
        num_tokens: size of the vocabulary.

    Returns:
        float32 [S, num_tokens].
    """
    num_tiles = -(-num_tokens // TILE_TOKENS)
    num_columns = min(TILE_COLUMNS, num_tokens)  # of a tile; fewer only if there is less than one lane of one tile
    counter = torch.arange(num_tiles * num_columns, device=keys.device)
    zero = torch.zeros_like(counter)
    words = philox(
        (counter, positions[:, None] & _WORD, zero, zero), (keys[:, None] & _WORD, (keys[:, None] >> 32) & _WORD)
    )
    by_tile = [word.view(-1, num_tiles, num_columns) for word in words]
    return gumbel_from_words(torch.stack(by_tile, dim=2).flatten(1)[:, :num_tokens])
