"""What it saves that rows of a step read the same blocks."""

from dataclasses import replace

import numpy as np

from backends.cost_model import FloatColumn
from backends.simulated.fitted_times import FittedTimes
from sim.fitting.device_design import DeviceDesign
from sim.fitting.relative_fit import fit_relative
from sim.fitting.samples import Flags, Samples

_MAX_STEPS = 8000
"""More are thinned out: this is one number."""
_TOLERANCE = 0.02
_WEIGHT = 0.05
"""To save all must lower the sum of squared errors by so much of that of the steps that share: where these are few, or
hardly depend on it, little is saved."""


def shared_saving(blank: FittedTimes, samples: Samples) -> float:
    """`AttentionTimes.shared_saving` as steps of decode rows alone show it; 0 if rows of none share blocks.

    Captured ones are preferred, since others may wait for launches. The number is a factor of others, so for each guess
    these are fitted anew, and the guess with the least errors is taken; less if little depends on it. It is a matter of
    the kernels: on an H200 flash-attn 4, whose programs start at the first token of their rows all at once, saves
    all, and flash-attn 2, which cuts contexts into pieces, about a quarter.
    """
    rows: Flags = samples.steps.num_prefill_seqs == 0
    captured: Flags = rows & (samples.steps.graph_size > 0)
    rows = captured if captured.any() else rows
    if not samples.steps.shared_context[rows].any():
        return 0.0
    every = -(-int(rows.sum()) // _MAX_STEPS)
    return _best(blank, samples.where(rows & (np.cumsum(rows) % every == 0)))


def with_saving(blank: FittedTimes, saving: float) -> FittedTimes:
    """The same with this share saved."""
    return replace(blank, attention=replace(blank.attention, shared_saving=saving))


def _best(blank: FittedTimes, samples: Samples) -> float:
    from scipy.optimize import minimize_scalar

    without, full = (DeviceDesign(with_saving(blank, saving), samples) for saving in (0.0, 1.0))
    device_s: FloatColumn = samples.times.device_s

    def errors(saving: float) -> FloatColumn:
        # But for tails that come or go, the matrix is linear in it.
        matrix = without.matrix + saving * (full.matrix - without.matrix)
        found = fit_relative(matrix, device_s, samples.scale_s, without.wishes)
        relative: FloatColumn = (matrix @ found - device_s) / samples.scale_s
        return relative

    weight = _WEIGHT * float((errors(0.0)[samples.steps.shared_context > 0] ** 2).sum())

    def cost(saving: float) -> float:
        return float((errors(saving) ** 2).sum()) + weight * saving**2

    found = float(minimize_scalar(cost, bounds=(0.0, 1.0), method="bounded", options={"xatol": _TOLERANCE}).x)
    # The search comes near the ends, not to them; of equal ones the smallest is taken.
    return min((0.0, found, 1.0), key=cost)
