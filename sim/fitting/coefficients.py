"""From the coefficients that a fit looks for to the device times of a cost model."""

from collections.abc import Iterator

import numpy as np

from backends.simulated.fitted_times import FittedTimes
from sim.fitting.relative_fit import Wish
from sim.fitting.vectors import Vector, places, to_vector

_TABLES = {"call_us": 1.0, "even_us": 1.0, "per_1k_tokens_us": 10.0, "tail_per_1k_us": 3.0}
"""How much it is wished that neighbours in tables are alike. What a token takes is the memory's rate wherever rows fill
the device; with a few steps in a corner of a table it would be bent there, and what it gives beyond be far off."""
_NOT_DEVICE = ("launches.", "host.")


def basis(blank: FittedTimes) -> Vector:
    """Times from coefficients: a line a time, a column a coefficient, in the order of the times.

    Times of products are sums of steps upwards, so that more tokens never take less time. What more query tokens hide
    of the reading of their context falls. What attention takes whatever the contexts is left to the products in the
    first band, where neither can be told from the other. Columns of launches and of the host are empty.
    """
    size, where = len(to_vector(blank)), places(blank)
    matrix = np.zeros((size, size))
    for name, place in where.items():
        if not name.startswith(_NOT_DEVICE):
            matrix[place, place] = np.eye(place.stop - place.start)
    for name in ("decode.products.time_us", "prompts.products.time_us"):
        matrix[where[name], where[name]] = np.tril(np.ones((_length(where[name]),) * 2))
    hidden = where["prompts.context_per_1k_us"]
    matrix[hidden, hidden] = np.triu(np.ones((_length(hidden),) * 2))
    first_calls = where["attention.call_us"].start + np.arange(len(blank.attention.rows))
    matrix[first_calls, first_calls] = 0.0
    return matrix


def _length(place: slice) -> int:
    return int(place.stop - place.start)


def wishes(blank: FittedTimes) -> Iterator[Wish]:
    """That neighbours in tables are alike."""
    size, where = len(to_vector(blank)), places(blank)
    num_bands, num_points = len(blank.attention.context_limits) + 1, len(blank.attention.rows)
    for name, strength in _TABLES.items():
        start = where[f"attention.{name}"].start
        for first, second in _neighbours(num_bands, num_points):
            yield Wish(_difference(size, start + first, start + second), strength)


def slope_wishes(blank: FittedTimes) -> Iterator[Wish]:
    """Likewise, but combinations of times: slopes of products should not change much."""
    size, where = len(to_vector(blank)), places(blank)
    for name, part in (("decode", blank.decode), ("prompts", blank.prompts)):
        start, points = where[f"{name}.products.time_us"].start, part.products.tokens
        for place in range(len(points) - 2):
            left, right = points[place + 1] - points[place], points[place + 2] - points[place + 1]
            wish = np.zeros(size)
            wish[start + place : start + place + 3] = (1 / left, -1 / left - 1 / right, 1 / right)
            yield Wish(wish * min(left, right))


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
