"""From the few coefficients that a fit looks for to the device times of a cost model, which are many."""

from collections.abc import Iterator

import numpy as np

from backends.cost_model import FloatColumn
from backends.simulated.fitted_times import DecodeTimes, PromptTimes, SkewTimes
from sim.fitting.blank_times import MAX_SPLIT_ROWS
from sim.fitting.vectors import Vector, places, to_vector

_FULL_ROWS = 30.0
"""Rows of one context that fill a GPU: a program a row and KV head, two on a multiprocessor (264 programs, 8 heads)."""
_SKEW_ROWS = (25.0, 48.0, 96.0, 256.0)
"""Rows between which the weight of the longest context is linear in their logarithm."""


def basis(blank: DecodeTimes | PromptTimes) -> Vector:
    """Times from coefficients: a line a time, a column a coefficient, in an order of its own.

    Times of products are sums of steps upwards, so that more tokens never take less time.
    """
    size, where = len(to_vector(blank)), places(blank)
    products = where["products.time_us"]
    matrix = np.zeros((size, size))
    free = np.array([not name.startswith(("skew.", "attention.")) for name in where for _ in _range(where[name])])
    matrix[free, free] = 1.0
    matrix[products, products] = np.tril(np.ones((products.stop - products.start,) * 2))
    _add_attention(matrix, blank)
    return matrix


def _range(place: slice) -> range:
    return range(place.start, place.stop)


def _add_attention(matrix: Vector, blank: DecodeTimes | PromptTimes) -> None:
    """Tables of decode attention.

    What it takes whatever the contexts is left to the products in the first band, where neither can be told from the
    other. Contexts that are not split have no bands, and all rows beyond read their tokens at one rate.
    """
    where, points = places(blank), np.array(blank.attention.rows)
    is_first = np.arange(len(points) * (len(blank.attention.context_limits) + 1)) < len(points)
    is_split = np.resize(points <= MAX_SPLIT_ROWS, len(is_first))
    if isinstance(blank, PromptTimes):
        _add_ones(matrix, where["attention.call_us"], ~is_first)
        _add_ones(matrix, where["attention.per_1k_tokens_us"], np.ones_like(is_first))
        # More work beside it hides more of it.
        lone = where["lone_per_1k_us"]
        matrix[lone, lone] = np.triu(np.ones((lone.stop - lone.start,) * 2))
        return
    _add_ones(matrix, where["attention.call_us"], ~is_first & is_split)
    _add_ones(matrix, where["attention.longest_per_1k_us"], is_split)
    rates = where["attention.per_1k_tokens_us"]
    _add_ones(matrix, rates, is_split)
    if not is_split.all():
        together = rates.start + np.flatnonzero(~is_split)
        matrix[together, together[0]] = 1.0
        _add_skew(matrix, where["skew.longest_per_1k_us"], blank.skew)


def _add_ones(matrix: Vector, place: slice, is_free: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> None:
    chosen = place.start + np.flatnonzero(is_free)
    matrix[chosen, chosen] = 1.0


def _add_skew(matrix: Vector, place: slice, skew: SkewTimes) -> None:
    """A column for each of `_SKEW_ROWS`, then one a band of rows; the first band has none, its contexts are split."""
    rows, ratios = skew_rows(skew), np.array(skew.ratios)
    start = place.start
    for number in range(len(_SKEW_ROWS)):
        weights = np.interp(np.log(rows), np.log(_SKEW_ROWS), np.eye(len(_SKEW_ROWS))[number])
        for band, (weight, row_count) in enumerate(zip(weights, rows, strict=True), start=1):
            cells = start + band * len(ratios) + np.arange(len(ratios))
            matrix[cells, start + number] = weight * tail_share(float(row_count), ratios)
    for band in range(1, len(rows) + 1):
        cells = start + band * len(ratios) + np.arange(len(ratios))
        matrix[cells, start + len(_SKEW_ROWS) + band - 1] = np.maximum(0.0, 1.0 - np.log2(ratios)) / ratios


def skew_rows(skew: SkewTimes) -> FloatColumn:
    """Rows of each band of skew but the first; those of the last, which has no limit, as of the one before."""
    return np.array([*skew.row_limits[1:], skew.row_limits[-1]])


def tail_share(num_rows: float, ratios: FloatColumn) -> FloatColumn:
    """Time in which too few rows are left to fill the GPU, in that which the longest alone would take.

    A shape tells the number of rows, their longest context L and the mean. The number of rows longer than x is taken
    to fall as n (1 - x/L)^k, which has the right mean for k = ratio - 1. Rows are read at the full rate until no more
    than `_FULL_ROWS` are left, then each at the rate of one.

        rows
         n |\\
           | \\__
           |    \\___           full rate
         f |- - - - -\\______ - - - - - -
           |          |     \\________    what a slower rate adds: integral over x of 1 - rows / f
           0----------x----------------L
    """
    power = np.maximum(ratios - 1.0, 0.02)
    if num_rows <= _FULL_ROWS:
        return np.maximum(0.0, 1.0 - num_rows / (_FULL_ROWS * (power + 1.0)))
    share: FloatColumn = (_FULL_ROWS / num_rows) ** (1.0 / power) * power / (power + 1.0)
    return share


def wishes(blank: DecodeTimes | PromptTimes) -> Iterator[Vector]:
    """Combinations of coefficients that should be near 0: neighbours in tables are alike, and slopes of products."""
    size, where = len(to_vector(blank)), places(blank)
    for name in ("call_us", "per_1k_tokens_us", "longest_per_1k_us"):
        start = where[f"attention.{name}"].start
        for first, second in _neighbours(len(blank.attention.context_limits) + 1, len(blank.attention.rows)):
            yield _difference(size, start + first, start + second)
    if isinstance(blank, DecodeTimes):
        start = where["skew.longest_per_1k_us"].start
        num_bands = len(skew_rows(blank.skew))
        for place in range(start, start + len(_SKEW_ROWS) + num_bands - 1):
            if place != start + len(_SKEW_ROWS) - 1:
                yield _difference(size, place, place + 1)


def slope_wishes(blank: DecodeTimes | PromptTimes) -> Iterator[Vector]:
    """Likewise, of times: slopes of products should not change much."""
    size, start, points = len(to_vector(blank)), places(blank)["products.time_us"].start, blank.products.tokens
    for place in range(len(points) - 2):
        left, right = points[place + 1] - points[place], points[place + 2] - points[place + 1]
        wish = np.zeros(size)
        wish[start + place : start + place + 3] = (1 / left, -1 / left - 1 / right, 1 / right)
        yield wish * min(left, right)


def _difference(size: int, first: int, second: int) -> Vector:
    wish = np.zeros(size)
    wish[first], wish[second] = 1.0, -1.0
    return wish


def _neighbours(num_bands: int, num_points: int) -> Iterator[tuple[int, int]]:
    for band in range(num_bands):
        for point in range(num_points):
            place = band * num_points + point
            if point + 1 < num_points:
                yield place, place + 1
            if band + 1 < num_bands:
                yield place, place + num_points
