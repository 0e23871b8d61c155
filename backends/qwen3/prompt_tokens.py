"""Token ids of a prompt, also where a trace only tells the identity of its content."""

import numpy as np
from numpy.typing import NDArray

from engine.prompt import Prompt

_GOLDEN_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_WORD = (1 << 64) - 1


def prompt_tokens(prompt: Prompt, vocab_size: int) -> NDArray[np.int64]:
    """All token ids of `prompt`.

    Where only content ids are known, the token at offset o of the content with id c is a fixed function of (c, o), so
    that prompts share tokens wherever they share content. 16 such tokens are never the same by accident: they carry
    275 bits of a vocabulary of 151,936, from a 64-bit state.

    Args:
        prompt: what to spell out.
        vocab_size: ids are 0 .. vocab_size - 1.

    Returns:
        int64 [prompt.num_tokens]; known token ids come as they are, in the vocabulary or not.
    """
    if prompt.token_ids is not None:
        return np.array(prompt.token_ids, dtype=np.int64)
    content_ids, lengths = zip(*prompt.segments, strict=True)
    return content_tokens(content_ids, np.array(lengths, dtype=np.int64), vocab_size)


def content_tokens(content_ids: tuple[int, ...], lengths: NDArray[np.int64], vocab_size: int) -> NDArray[np.int64]:
    """Token ids of runs of content.

    Args:
        content_ids: 64-bit id of each run, signed or not.
        lengths: tokens of each run.
        vocab_size: ids are 0 .. vocab_size - 1.
    """
    starts = mix(np.array([content_id & _WORD for content_id in content_ids], dtype=np.uint64))
    offsets = np.arange(lengths.sum(), dtype=np.uint64) - np.repeat(
        (lengths.cumsum() - lengths).astype(np.uint64), lengths
    )
    mixed = mix(np.repeat(starts, lengths) + offsets * _GOLDEN_GAMMA)
    # The upper 32 bits times the vocabulary, shifted back: as even as a remainder and much quicker.
    return ((mixed >> np.uint64(32)) * np.uint64(vocab_size) >> np.uint64(32)).astype(np.int64)


def mix(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """SplitMix64's finaliser (Steele et al., "Fast splittable pseudorandom number generators", 2014): a bijection."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))
