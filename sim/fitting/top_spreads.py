"""How far the longest of many numbers lie above all of them."""

import math
from collections.abc import Sequence


def top_spreads(rows: Sequence[float], full_rows: float) -> tuple[float, ...]:
    """By how many standard deviations the mean of the longest `full_rows` contexts lies above that of all.

    Taken is a normal distribution; for the share p of the longest that is phi(z) / p, where z cuts off p. Contexts of
    published traces, lognormal ones and few long ones among many short lie within some 5 % of the longest of it.

    Args:
        rows: numbers of contexts.
        full_rows: how many are looked at.
    """
    return tuple([_spread(full_rows / each) if each > full_rows else 0.0 for each in rows])


def _spread(share: float) -> float:
    from scipy.special import ndtri

    cut = float(ndtri(1 - share))
    return math.exp(-cut * cut / 2) / math.sqrt(2 * math.pi) / share
