"""Least squares of relative errors, without negative coefficients."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
_PRIOR = 0.05
"""Weight of a wish beside that of the data."""


class Wish(NamedTuple):
    """A combination of coefficients that should be near 0 where the data do not say otherwise.

    Attributes:
        combination: a number a coefficient.
        strength: how many times as much it weighs as others do.
    """

    combination: Vector
    strength: float = 1.0


def fit_relative(design: Vector, measured: Vector, scale: Vector, wishes: Sequence[Wish] = ()) -> Vector:
    """Coefficients, none negative, for which `design @ coefficients` comes closest to `measured`.

    Args:
        design: a row a step, a column a coefficient.
        measured: a time a step.
        scale: by what errors are divided.
        wishes: what coefficients should be like.
    """
    from scipy.optimize import nnls

    rows = design / scale[:, None]
    norms = np.sqrt((rows**2).sum(axis=0))
    used = norms > 0
    if wishes:
        rows = np.concatenate([rows, _weighted(wishes, norms)])
    target = np.concatenate([measured / scale, np.zeros(len(wishes))])
    # A coefficient that no step depends on is decided by wishes alone, or is 0.
    used |= (rows != 0).any(axis=0)
    sizes = np.sqrt((rows[:, used] ** 2).sum(axis=0))
    coefficients = np.zeros(design.shape[1])
    found, _ = nnls(*_condensed(rows[:, used] / sizes, target), maxiter=50 * int(used.sum()))
    coefficients[used] = found / sizes
    return coefficients


def _condensed(rows: Vector, target: Vector) -> tuple[Vector, Vector]:
    """As many rows as columns, with the same solution: distances do not change when everything is turned."""
    if len(rows) <= rows.shape[1]:
        return rows, target
    # With the target as one more column, what it becomes when turned is at hand without the turn itself.
    triangle = np.asarray(np.linalg.qr(np.column_stack([rows, target]), mode="r"))
    size = rows.shape[1]
    return triangle[:size, :size], triangle[:size, size]


def _weighted(wishes: Sequence[Wish], norms: Vector) -> Vector:
    """Wishes that weigh a little beside the data of the coefficients that they name."""
    combinations = np.array([wish.combination for wish in wishes])
    typical = np.array([np.max(norms[named], initial=0.0) for named in combinations != 0])
    weights = _PRIOR * typical * np.array([wish.strength for wish in wishes])
    weighted: Vector = combinations / np.abs(combinations).max(axis=1)[:, None] * weights[:, None]
    return weighted
