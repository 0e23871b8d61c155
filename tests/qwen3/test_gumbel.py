import numpy as np
import pytest
import torch
from scipy import stats

from backends.qwen3.gumbel import TILE_TOKENS, gumbel, gumbel_from_words, philox

# Known answers of the generator's authors (Random123, kat_vectors): rounds, counter, key, output.
KNOWN = [
    (7, (0, 0, 0, 0), (0, 0), (0x5F6FB709, 0x0D893F64, 0x4F121F81, 0x4F730A48)),
    (10, (0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    (10, (0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        10,
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]


@pytest.mark.parametrize(("rounds", "counter", "key", "expected"), KNOWN)
def test_philox_gives_the_known_answers(rounds, counter, key, expected):
    words = philox(tuple(map(torch.tensor, counter)), tuple(map(torch.tensor, key)), rounds)
    assert tuple(map(int, words)) == expected


def test_numbers_are_finite_for_every_extreme_word():
    words = torch.tensor([0, 1, 2**24, 2**31, 2**32 - 257, 2**32 - 2, 2**32 - 1])
    assert gumbel_from_words(words).isfinite().all()


def test_numbers_are_accurate_where_a_float32_has_few_digits():
    words = torch.tensor([0, 1, 1000, 2**20, 2**26 - 1, 2**26, 2**28, 2**31])
    exact = -np.log(-np.log1p(-(words.numpy() + 0.5) / 2.0**32))
    assert gumbel_from_words(words).numpy() == pytest.approx(exact, rel=1e-5, abs=1e-5)


def test_numbers_follow_the_gumbel_distribution():
    numbers = gumbel(torch.arange(20) * 7919, torch.arange(20), 5000).flatten().numpy()
    assert stats.kstest(numbers, "gumbel_r").pvalue > 0.01


def test_neighbours_are_independent():
    by_token = gumbel(torch.tensor([1]), torch.tensor([0]), 100_001)[0].numpy()
    by_position = gumbel(torch.tensor([1]).expand(5001), torch.arange(5001), 4)[:, 2].numpy()
    by_key = gumbel(torch.arange(5001), torch.zeros(5001, dtype=torch.int64), 4)[:, 1].numpy()
    for numbers in (by_token, by_position, by_key):
        assert abs(stats.spearmanr(numbers[:-1], numbers[1:]).statistic) < 4 / len(numbers) ** 0.5


def test_no_two_tokens_share_a_number():
    numbers = gumbel(torch.tensor([5]), torch.tensor([9]), 3 * TILE_TOKENS + 5)[0]
    assert len(numbers.unique()) > 0.999 * len(numbers)  # equal floats come from unequal words, rarely


def test_numbers_depend_on_key_and_position_alone():
    keys, positions = torch.tensor([3, -(2**63), 2**40]), torch.tensor([0, 40959, 7])
    together = gumbel(keys, positions, 5000)
    for row in range(3):
        alone = gumbel(keys[row : row + 1], positions[row : row + 1], 5000)
        assert torch.equal(alone[0], together[row])
    assert torch.equal(gumbel(keys, positions, 100), together[:, :100])


@pytest.mark.parametrize("bit", [0, 31, 32, 62])
def test_every_bit_of_the_key_counts(bit):
    zero = torch.tensor([0])
    assert not torch.equal(gumbel(zero, zero, 64), gumbel(torch.tensor([1 << bit]), zero, 64))
