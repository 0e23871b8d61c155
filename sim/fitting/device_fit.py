"""Fits device times."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from backends.cost_model import FloatColumn
from backends.simulated.fitted_model import FittedModel
from backends.simulated.fitted_times import FittedTimes, LaunchTimes
from sim.fitting.coefficients import basis, slope_wishes, wishes
from sim.fitting.relative_fit import Wish, fit_relative
from sim.fitting.samples import Flags, Samples
from sim.fitting.vectors import Vector, with_vector

_MAX_ROUNDS = 12


def fit_device(blank: FittedTimes, samples: Samples) -> FittedTimes:
    """Fill in the device times.

    Work and launches are fitted in turns, since an eager step takes the longer of both: each step counts for the
    longer.
    """
    problem = _Problem(blank, samples)
    is_launched = problem.guess_launched()
    for _ in range(_MAX_ROUNDS):
        work, floor = problem.fit_work(~is_launched), problem.floor(is_launched)
        found = problem.is_eager & (floor > work)
        if (found == is_launched).all():
            break
        is_launched = found
    return problem.filled(is_launched)


class _Problem:
    """The steps, and what each coefficient says of them."""

    def __init__(self, blank: FittedTimes, samples: Samples) -> None:
        self._blank, self._samples = blank, samples
        self._device_s, self._scale = samples.times.device_s, samples.scale_s
        # As they would be if the host of the reference speed had launched the step, and its launches were all.
        self._launched_s, self._launched_scale = self._device_s / samples.slowness, self._scale / samples.slowness
        self.is_eager: Flags = samples.steps.graph_size == 0
        self._basis = basis(blank)
        self._design = _design(blank, samples, self._basis)
        is_used: Flags = np.asarray(self._basis.any(axis=0))
        slopes = [wish._replace(combination=wish.combination @ self._basis) for wish in slope_wishes(blank)]
        self._wishes = [wish for wish in (*wishes(blank), *slopes) if _names_only(wish, is_used)]

    def guess_launched(self) -> Flags:
        """Eager steps about as quick as the quickest of their kind."""
        is_launched = np.zeros(len(self._samples), dtype=np.bool_)
        for _, rows in self._kinds():
            if rows.any():
                is_launched |= rows & (self._launched_s < 1.15 * np.quantile(self._launched_s[rows], 0.1))
        # Without other steps there is nothing to tell launches and work apart by; then all of it is work.
        return is_launched if not is_launched.all() else np.zeros_like(is_launched)

    def fit_work(self, rows: Flags) -> FloatColumn:
        """Fit the work to these steps; returns that of all."""
        self._found: Vector = fit_relative(self._design[rows], self._device_s[rows], self._scale[rows], self._wishes)
        work: FloatColumn = self._design @ self._found
        return work

    def floor(self, is_launched: Flags) -> FloatColumn:
        """Time that its host took to launch each step's kernels, from the steps that were bound by it."""
        floor, floors = np.zeros(len(self._samples)), self._floors(is_launched)
        for name, rows in self._kinds():
            floor[rows] = floors[name] * 1e-6
        return floor * self._samples.slowness

    def filled(self, is_launched: Flags) -> FittedTimes:
        """Everything with what was found."""
        times = with_vector(self._blank, self._basis @ self._found)
        return replace(times, launches=LaunchTimes(**self._floors(is_launched)))

    def _floors(self, is_launched: Flags) -> dict[str, float]:
        return {
            name: 1e6 * _relative_mean(self._launched_s[rows & is_launched], self._launched_scale[rows & is_launched])
            for name, rows in self._kinds()
        }

    def _kinds(self) -> Iterator[tuple[str, Flags]]:
        steps = self._samples.steps
        has_prompts, has_decodes = steps.num_prefill_seqs > 0, steps.num_decode_seqs > 0
        yield "decode_us", self.is_eager & ~has_prompts
        yield "prompts_us", self.is_eager & has_prompts & ~has_decodes
        yield "mixed_us", self.is_eager & has_prompts & has_decodes


def _names_only(wish: Wish, is_used: Flags) -> bool:
    named = np.flatnonzero(wish.combination)
    return len(named) > 0 and bool(is_used[named].all())


def _relative_mean(values: FloatColumn, scale: FloatColumn) -> float:
    """The constant for which relative errors are least; 0 for no values."""
    return float((values / scale**2).sum() / (1 / scale**2).sum()) if len(values) else 0.0


def _design(blank: FittedTimes, samples: Samples, basis: Vector) -> Vector:
    """Device seconds of each step for one of each coefficient: the model itself says what it counts."""
    design = np.zeros((len(samples), basis.shape[1]))
    for place in np.flatnonzero(basis.any(axis=0)):
        one = FittedModel(with_vector(blank, basis[:, place]), None)
        design[:, place] = one.step_times(samples.steps).device_s
    return design
