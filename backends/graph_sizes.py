"""Sizes for which steps are captured as CUDA graphs."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence

from engine.errors import SettingError

_LARGEST_MIXED = 4096
_LAYER_PRODUCTS = 2**36
"""Multiplications of a layer's matrices (tokens x weights) up to which a step with prompts is worth a graph."""


def graph_sizes(max_num_seqs: int) -> tuple[int, ...]:
    """Decode rows to capture for at most `max_num_seqs`: 1, 2, 4, every 8 to 64, then eight sizes for each doubling.

    From 64 rows on at most one row in nine is padding; below, rows are almost free, since weights are read anyhow. The
    limit itself is always among them, so that no decode step of a full batch falls back to eager.

    Args:
        max_num_seqs: most rows of a decode step; 0 for no graphs at all.
    """
    sizes = (1, 2, 4, *range(8, 64, 8), *_eighths(64, max_num_seqs), max_num_seqs)
    return tuple(sorted({size for size in sizes if 0 < size <= max_num_seqs}))


def mixed_graph_sizes(max_num_batched_tokens: int, layer_weights: int) -> tuple[int, ...]:
    """Tokens to capture for steps with prompts: 16, 32, 64, 128, 192, then eight sizes for each doubling.

    A graph saves the launches of such a step, about half a millisecond a layer whatever its size, and pays for padding
    in the matrix products. Captured are therefore only sizes whose products are short beside that: large models stop
    early. The budget is among the sizes if it is small enough.

    Args:
        max_num_batched_tokens: most tokens of a step.
        layer_weights: weights of the matrices of one layer on one GPU.
    """
    largest = min(max_num_batched_tokens, _LARGEST_MIXED, _LAYER_PRODUCTS // layer_weights)
    sizes = (16, 32, 64, 128, 192, *_eighths(256, largest), max_num_batched_tokens)
    return tuple(sorted({size for size in sizes if 0 < size <= largest}))


def ascending_sizes(sizes: Iterable[int]) -> tuple[int, ...]:
    """Captured sizes in ascending order, each once.

    Raises:
        SettingError: a size is below 1.
    """
    ascending = tuple(sorted(set(sizes)))
    if ascending and ascending[0] < 1:
        raise SettingError(f"A CUDA graph size is {ascending[0]}; sizes must be at least 1 (no sizes at all: eager).")
    return ascending


def smallest_size(sizes: Sequence[int], num: int) -> int | None:
    """The smallest of ascending `sizes` that holds `num` rows or tokens, or None: then they run eager."""
    place = bisect_left(sizes, num)
    return sizes[place] if place < len(sizes) else None


def _eighths(first: int, last: int) -> Iterable[int]:
    """From `first` to at least `last`: 64, 72, 80 .. 128, 144 .. 256, 288 ..; `first` is a power of 2, at least 8."""
    size = first
    while size <= last:
        yield size
        size += max(1, 2 ** (size.bit_length() - 4))
