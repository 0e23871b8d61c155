"""Loads of steps whose rows begin with the same text, so that they read the same blocks."""

from collections.abc import Iterator
from dataclasses import replace

from sim.profiling.bounds import Bounds
from sim.profiling.decode_loads import staircase
from sim.profiling.load import Load

_STEPS_PER_LEVEL = 4
_SHARED = (((2048, 0.75),), ((6144, 0.5), (1024, 0.5)), ((3072, 0.9),))
"""Round by round, contexts and the part of them that is shared."""


def shared_loads(bounds: Bounds, number: int) -> Iterator[Load]:
    """Those of one of three rounds that fit."""
    for context, share in _SHARED[number]:
        load = staircase(bounds, context, _STEPS_PER_LEVEL)
        if load is not None:
            yield from filter(None, [alike(load, share, bounds.limits.block_size)])


def alike(load: Load, share: float, block_size: int) -> Load | None:
    """The same load with prompts that begin alike; None if that is not a block.

    Args:
        load: of standing sequences.
        share: part of the shortest prompt, in whole blocks, with which all begin.
        block_size: tokens in a KV block.
    """
    shortest = min([each.num_tokens for each in load.standing])
    # A prompt is never found whole: its last token is left to compute.
    num_shared = int(min(share * shortest, shortest - 1)) // block_size * block_size
    if not num_shared:
        return None
    standing = tuple([replace(each, num_shared=num_shared) for each in load.standing])
    return replace(load, name=f"{load.name}, {num_shared} shared", family="shared", standing=standing)
