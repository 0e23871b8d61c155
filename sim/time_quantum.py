"""The grid on which all clock values lie."""

import numpy as np
from numpy.typing import NDArray

_PER_SECOND = 2.0**30


def quantise(seconds: float) -> float:
    """Round to a multiple of 2**-30 s (about 1 ns), so that sums of times are exact in float64 in any order.

    Exact up to 2**23 s, 97 days.
    """
    return round(seconds * _PER_SECOND) / _PER_SECOND


def quantise_column(seconds: NDArray[np.float64]) -> NDArray[np.float64]:
    """`quantise` for many values: the same bits, since both round halves to even."""
    return np.rint(seconds * _PER_SECOND) / _PER_SECOND
