"""Loads of steps in which every row decodes."""

from collections.abc import Iterator, Sequence

from sim.profiling.bounds import Bounds
from sim.profiling.load import Load, Standing

_SPREAD = 97
"""Contexts of neighbouring rows differ by this, so that they come to new blocks at different steps."""


def staircase(bounds: Bounds, context: int, steps_per_level: int, *, below: int = 0) -> Load | None:
    """Rows that end in groups, so that one load passes through all levels downwards.

        rows  256 ======|
              248 ======|======|                   `steps_per_level` steps on each level
              240 ======|======|======| ...        contexts grow by one a step

    Args:
        bounds: of the engine.
        context: tokens of the shortest prompt; the others are up to a block longer, at most twice as long.
        steps_per_level: steps on each level.
        below: rows fewer than each level has, where the level below leaves room: graphs that are not full.

    Returns:
        The load, on as many levels as fit; None if not even the lowest does.
    """
    levels = _lowered(bounds.levels, below)
    if context + bounds.limits.block_size + steps_per_level * len(levels) >= bounds.limits.max_model_len:
        return None
    while levels:
        standing = _rows_of(levels, context, steps_per_level, bounds.limits.block_size)
        if bounds.fits(standing):
            return Load(f"decode, {context} tokens{f', {below} below' * (below > 0)}", "decode", standing)
        levels = levels[:-1]
    return None


def _lowered(levels: Sequence[int], below: int) -> tuple[int, ...]:
    lowest = zip((0, *levels), levels, strict=False)
    return tuple([max(level - below, lower + 1) for lower, level in lowest])


def _rows_of(levels: Sequence[int], context: int, steps_per_level: int, block_size: int) -> tuple[Standing, ...]:
    rows = []
    # The highest level comes first: its own rows end first.
    for position, (lower, level) in enumerate(reversed(list(zip((0, *levels), levels, strict=False)))):
        num_outputs = 1 + steps_per_level * (position + 1)
        rows += [num_outputs] * (level - lower)
    extra = min(block_size, context)
    return tuple([Standing(context + index * _SPREAD % extra, outputs) for index, outputs in enumerate(rows)])


def skewed(bounds: Bounds, num_short: int, short: int, long: int, num_steps: int) -> Load | None:
    """One long sequence among many short ones; None if they do not fit."""
    outputs = num_steps + 1
    extra = min(bounds.limits.block_size, short)
    standing = (
        Standing(long, outputs),
        *[Standing(short + index * _SPREAD % extra, outputs) for index in range(num_short)],
    )
    longest = max(each.num_tokens for each in standing)
    too_many = len(standing) > min(bounds.limits.max_num_seqs, bounds.limits.max_num_batched_tokens)
    if too_many or longest + outputs >= bounds.limits.max_model_len or not bounds.fits(standing):
        return None
    return Load(f"{num_short} of {short} tokens, 1 of {long}", "skewed", standing)


def like_contexts(bounds: Bounds, num_rows: int, context: int) -> list[int]:
    """Contexts of rows, in tokens, that differ by up to a block."""
    extra = min(bounds.limits.block_size, context)
    return [context + index * _SPREAD % extra for index in range(num_rows)]


def skewed_loads(bounds: Bounds, num_steps: int) -> Iterator[Load]:
    """Several of them, those that fit."""
    longs = sorted({8192, 32_000, bounds.limits.max_model_len * 3 // 4})
    candidates = [skewed(bounds, num, 256, long, num_steps) for num in (3, 15, 63, 191) for long in longs]
    yield from filter(None, candidates)
