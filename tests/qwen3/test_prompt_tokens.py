import numpy as np

from backends.qwen3.prompt_tokens import content_tokens, mix, prompt_tokens
from engine.hashed_prompt import HashedPrompt
from engine.token_prompt import TokenPrompt

VOCAB = 151_936


def tokens_of(*args, vocab=VOCAB):
    return prompt_tokens(HashedPrompt(*args), vocab).tolist()


def test_known_tokens_come_as_they_are():
    assert prompt_tokens(TokenPrompt([5, 0, VOCAB + 7]), VOCAB).tolist() == [5, 0, VOCAB + 7]


def test_prompts_share_tokens_where_they_share_content():
    one, other = tokens_of(1100, (7, 8, 9), 512, 1), tokens_of(1500, (7, 8, 10), 512, 2)
    assert one[:1024] == other[:1024]
    assert one[1024:1100] != other[1024:1100]


def test_the_unique_tail_differs():
    one, other = tokens_of(40, (7,), 16, 100), tokens_of(40, (7,), 16, 101)
    assert one[:16] == other[:16]
    assert not set(zip(range(16, 40), one[16:], strict=True)) & set(zip(range(16, 40), other[16:], strict=True))


def test_a_shorter_prompt_is_a_prefix_of_a_longer_one():
    assert tokens_of(600, (7, 8), 512, 1) == tokens_of(1024, (7, 8), 512, 1)[:600]


def test_tokens_never_change():
    assert tokens_of(6, (7,), 4, 9, vocab=1000) == [716, 524, 302, 940, 874, 205]


def test_tokens_are_a_mix_of_id_and_offset():
    def mixed(word):
        word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        word = (word ^ word >> 27) * 0x94D049BB133111EB % 2**64
        return word ^ word >> 31

    def token(content_id, offset):
        return (mixed((mixed(content_id) + offset * 0x9E3779B97F4A7C15) % 2**64) >> 32) * 1000 >> 32

    expected = [token(7, offset) for offset in range(4)] + [token(9, offset) for offset in range(2)]
    assert tokens_of(6, (7,), 4, 9, vocab=1000) == expected


def test_ids_may_be_any_64_bits():
    for content_id in (0, -1, 2**63, 2**64 - 1, -(2**63)):
        tokens = content_tokens((content_id,), np.array([100]), VOCAB)
        assert tokens.min() >= 0
        assert tokens.max() < VOCAB
    signed, unsigned = (content_tokens((content_id,), np.array([9]), VOCAB) for content_id in (-1, 2**64 - 1))
    assert signed.tolist() == unsigned.tolist()


def test_tokens_fill_the_vocabulary_evenly():
    tokens = content_tokens(tuple(range(2000)), np.full(2000, 512), 64)
    counts = np.bincount(tokens, minlength=64)
    assert (abs(counts - 16_000) < 6 * 16_000**0.5).all()


def test_no_two_blocks_of_16_tokens_are_equal_among_all_ids_of_a_long_trace():
    # 200,001 ids of 512 tokens: 6.4 million blocks. Equal blocks would have equal 64-bit sums of scrambled tokens.
    scramble = mix(np.arange(1, 17, dtype=np.uint64)) | np.uint64(1)
    sums = []
    for first in range(0, 200_001, 4000):
        ids = tuple(range(first, min(first + 4000, 200_001)))
        blocks = content_tokens(ids, np.full(len(ids), 512), VOCAB).reshape(-1, 16).astype(np.uint64)
        sums.append(mix(blocks * scramble).sum(axis=1, dtype=np.uint64))
    all_sums = np.sort(np.concatenate(sums))
    assert len(all_sums) == 200_001 * 32
    assert (all_sums[1:] != all_sums[:-1]).all()
