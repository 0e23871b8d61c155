"""Least squares of relative errors, without negative coefficients."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
_PRIOR = 0.05
"""Weight of a wish beside that of the data."""


def fit_relative(design: Vector, measured: Vector, scale: Vector, wishes: Sequence[Vector] = ()) -> Vector:
    """Coefficients, none negative, for which `design @ coefficients` comes closest to `measured`.

    Args:
        design: a row a step, a column a coefficient.
        measured: a time a step.
        scale: by what errors are divided.
        wishes: combinations of coefficients that should be near 0 where the data do not say otherwise.
    """
    from scipy.optimize import nnls

    rows = design / scale[:, None]
    norms = np.sqrt((rows**2).sum(axis=0))
    used = norms > 0
    if wishes:
        rows = np.concatenate([rows, _weighted(np.array(wishes), norms)])
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
    turned, triangle = np.linalg.qr(rows)
    return triangle, turned.T @ target


def _weighted(wishes: Vector, norms: Vector) -> Vector:
    """Wishes that weigh a little beside the data of the coefficients that they name."""
    is_named = wishes != 0
    typical = np.array([np.max(norms[named], initial=0.0) for named in is_named])
    sizes = np.abs(wishes).max(axis=1)
    weighted: Vector = wishes / sizes[:, None] * (typical * _PRIOR)[:, None]
    return weighted
