"""Loads of steps whose rows have unlike contexts, as those of a server have."""

from collections.abc import Iterator
from random import Random

from sim.profiling.bounds import Bounds
from sim.profiling.load import Load, Standing

_FEWEST_ROWS = 2
SPREADS = {"even": 0.3, "wide": 0.8, "wider": 1.3}
"""Widths of lognormal contexts, as standard deviations of their logarithm."""
_LONG = {"few long": 1 / 16, "some long": 1 / 5}
"""Shares of rows that are `_TIMES` as long as the others."""
_TIMES = 12


def contexts(random: Random, name: str, median: int, num_rows: int, longest: int) -> list[int]:
    """Context lengths of rows, in tokens, in random order.

    Args:
        random: of all draws.
        name: a key of `SPREADS`, or "few long" or "some long": two kinds of rows.
        median: of the lengths, in tokens; of two kinds that of the many.
        num_rows: how many.
        longest: none is longer.
    """
    spread, share = SPREADS.get(name, 0.2), _LONG.get(name, 0.0)
    num_long = -(-num_rows * share // 1)
    drawn = [
        median * random.lognormvariate(0, spread) * (_TIMES if position < num_long else 1)
        for position in range(num_rows)
    ]
    random.shuffle(drawn)
    return [min(max(1, round(each)), longest) for each in drawn]


def descent(
    bounds: Bounds, name: str, median: int, num_rows: int, steps_per_level: int, seed: int, *, latest: float = 1.0
) -> Load | None:
    """Rows of unlike contexts that end in random order, so that one load passes through the levels downwards.

    Each level has other rows left, and so another spread:

        rows   24 ===|          contexts   ======== === ============= = =====
               16 ===|===|                 ======== ===               = =====
                8 ===|===|===|                      ===                 =====

    Args:
        bounds: of the engine.
        name: how contexts are spread; see `contexts`.
        median: of the contexts.
        num_rows: on the highest level; fewer if they do not fit.
        steps_per_level: steps on each level.
        seed: of all draws.
        latest: of the load.

    Returns:
        The load; None if there are not two rows of unlike contexts.
    """
    limits, random = bounds.limits, Random(f"{seed} {name} {median} {num_rows}")
    levels = [level for level in bounds.levels if _FEWEST_ROWS <= level <= num_rows]
    longest = limits.max_model_len - steps_per_level * len(levels) - 2
    while levels and longest >= 1:
        ends = _ends(levels, steps_per_level)
        lengths = contexts(random, name, median, len(ends), longest)
        standing = tuple([Standing(length, end) for length, end in zip(lengths, ends, strict=True)])
        if bounds.fits(standing):
            return Load(f"{len(ends)} rows, {name} around {median}, seed {seed}", "unlike", standing, latest=latest)
        levels = levels[:-1]
    return None


def _ends(levels: list[int], steps_per_level: int) -> list[int]:
    """Outputs of each row, so that each level has its rows; levels rise."""
    ends: list[int] = []
    for position, level in enumerate(reversed(levels)):
        lower = levels[-position - 2] if position + 1 < len(levels) else 0
        ends += [1 + steps_per_level * (position + 1)] * (level - lower)
    return ends


_MANY = (
    (("wide", 900), ("few long", 500), ("wider", 300), ("even", 1300)),
    (("wide", 350), ("some long", 400), ("wider", 1200), ("few long", 1500)),
    (("wide", 2500), ("some long", 150), ("wider", 700), ("even", 500)),
)
"""Spreads and medians, round by round, of loads with as many rows as there may be."""
_FEW = (
    (("wide", 9000, 24), ("some long", 2500, 8), ("wide", 18_000, 8)),
    (("wider", 4000, 24), ("wide", 24_000, 4), ("some long", 2500, 24)),
    (("wide", 14_000, 16), ("wider", 9000, 8), ("even", 22_000, 24)),
)
"""Likewise with few rows, whose contexts are split over the device, and their number."""


def unlike_loads(bounds: Bounds, number: int, seed: int) -> Iterator[Load]:
    """Those of one of three rounds that fit."""
    most = bounds.levels[-1]
    many = [descent(bounds, name, median, most, 3, seed) for name, median in _MANY[number]]
    few = [descent(bounds, name, median, min(rows, most), 8, seed) for name, median, rows in _FEW[number]]
    yield from filter(None, (*many, *few))
