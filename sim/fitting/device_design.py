"""What each number of a cost model says of the device times of measured steps."""

import numpy as np

from backends.simulated.fitted_model import FittedModel
from backends.simulated.fitted_times import FittedTimes
from sim.fitting.coefficients import basis, slope_wishes, wishes
from sim.fitting.relative_fit import Wish
from sim.fitting.samples import Flags, Samples
from sim.fitting.vectors import Vector, with_vector


class DeviceDesign:
    """Equations of a fit of device times.

    Attributes:
        basis: times from coefficients, see `sim.fitting.coefficients.basis`.
        matrix: device seconds of each step (row) for one of each coefficient (column).
        wishes: what coefficients should be like, as far as the steps depend on them.
    """

    def __init__(self, blank: FittedTimes, samples: Samples) -> None:
        """Ask the model itself what it counts."""
        self.basis = basis(blank)
        self.matrix = _matrix(blank, samples, self.basis)
        is_used: Flags = np.asarray(self.basis.any(axis=0))
        slopes = [wish._replace(combination=wish.combination @ self.basis) for wish in slope_wishes(blank)]
        self.wishes = [wish for wish in (*wishes(blank), *slopes) if _names_only(wish, is_used)]


def _names_only(wish: Wish, is_used: Flags) -> bool:
    named = np.flatnonzero(wish.combination)
    return len(named) > 0 and bool(is_used[named].all())


def _matrix(blank: FittedTimes, samples: Samples, basis: Vector) -> Vector:
    design = np.zeros((len(samples), basis.shape[1]))
    for place in np.flatnonzero(basis.any(axis=0)):
        one = FittedModel(with_vector(blank, basis[:, place]), None)
        design[:, place] = one.step_times(samples.steps).device_s
    return design
