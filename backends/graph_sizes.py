"""Batch sizes for which decode steps are captured as CUDA graphs."""

from collections.abc import Iterable

from engine.errors import SettingError


def graph_sizes(max_num_seqs: int) -> tuple[int, ...]:
    """Sizes to capture for at most `max_num_seqs` rows: 1, 2, 4, then every 8 to 256, every 16 to 512, every 64 beyond.

    The limit itself is always among them, so that no decode step of a full batch falls back to eager.

    Args:
        max_num_seqs: most rows of a decode step; 0 for no graphs at all.
    """
    strides = (1, 2, 4, *range(8, 256, 8), *range(256, 512, 16), *range(512, max_num_seqs, 64), max_num_seqs)
    return tuple(sorted({size for size in strides if 0 < size <= max_num_seqs}))


def graph_for_rows(sizes: Iterable[int]) -> tuple[int | None, ...]:
    """The graph to run for each number of rows: entry n is the smallest size that holds n rows.

    More rows than the table has entries run eager; without sizes every step does.

    Args:
        sizes: captured sizes, in any order.

    Returns:
        As many entries as the largest size plus one; entry 0 is None.

    Raises:
        SettingError: a size is below 1.
    """
    table: list[int | None] = [None]
    for size in sorted(set(sizes)):
        if size < 1:
            raise SettingError(f"A CUDA graph size is {size}; sizes must be at least 1 (no sizes at all: eager).")
        table += [size] * (size + 1 - len(table))
    return tuple(table)
