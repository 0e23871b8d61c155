"""Fits device times."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

import numpy as np

from backends.cost_model import FloatColumn
from backends.simulated.fitted_model import FittedModel
from backends.simulated.fitted_times import DecodeTimes, FittedTimes, LaunchTimes, PromptTimes
from sim.fitting.coefficients import basis, slope_wishes, wishes
from sim.fitting.relative_fit import fit_relative
from sim.fitting.samples import Flags, Samples
from sim.fitting.vectors import Vector, with_vector

_MAX_ROUNDS = 12


def fit_device(blank: FittedTimes, samples: Samples) -> FittedTimes:
    """Fill in the device times."""
    times, has_prompts = blank, samples.steps.num_prefill_seqs > 0
    if not has_prompts.all():
        times = _fit_part(times, "decode", samples.where(~has_prompts))
    if has_prompts.any():
        times = _fit_part(times, "prompts", samples.where(has_prompts))
    return times


def _fit_part(times: FittedTimes, part: Literal["decode", "prompts"], samples: Samples) -> FittedTimes:
    """Fit work and launches in turns, since an eager step takes the longer of both: each step counts for the longer."""
    problem = _Problem(times, part, samples)
    is_launched = problem.guess_launched()
    for _ in range(_MAX_ROUNDS):
        work, floor = problem.fit_work(~is_launched), problem.floor(is_launched)
        found = problem.is_eager & (floor > work)
        if (found == is_launched).all():
            break
        is_launched = found
    return problem.filled(is_launched)


class _Problem:
    """One part of the device times and the steps that it is about."""

    def __init__(self, times: FittedTimes, part: Literal["decode", "prompts"], samples: Samples) -> None:
        self._times, self._part, self._samples = times, part, samples
        self._blank: DecodeTimes | PromptTimes = getattr(times, part)
        self._device_s, self._scale = samples.times.device_s, samples.scale_s
        self.is_eager: Flags = samples.steps.graph_size == 0
        self._basis = basis(self._blank)
        self._design = _design(times, part, samples, self._basis)
        is_used = self._basis.any(axis=0)
        near = [*wishes(self._blank), *[wish @ self._basis for wish in slope_wishes(self._blank)]]
        self._wishes = [wish for wish in near if wish.any() and is_used[wish != 0].all()]

    def guess_launched(self) -> Flags:
        """Eager steps about as quick as the quickest of their kind."""
        is_launched = np.zeros(len(self._samples), dtype=np.bool_)
        for _, rows in self._kinds():
            if rows.any():
                is_launched |= rows & (self._device_s < 1.15 * np.quantile(self._device_s[rows], 0.1))
        # Without other steps there is nothing to tell launches and work apart by; then all of it is work.
        return is_launched if not is_launched.all() else np.zeros_like(is_launched)

    def fit_work(self, rows: Flags) -> FloatColumn:
        """Fit the work to these steps; returns that of all."""
        self._found: Vector = fit_relative(self._design[rows], self._device_s[rows], self._scale[rows], self._wishes)
        work: FloatColumn = self._design @ self._found
        return work

    def floor(self, is_launched: Flags) -> FloatColumn:
        """Time to launch each step's kernels, from the steps that were bound by it."""
        floor = np.zeros(len(self._samples))
        for name, rows in self._kinds():
            floor[rows] = self._floors(is_launched)[name] * 1e-6
        return floor

    def filled(self, is_launched: Flags) -> FittedTimes:
        """Everything with what was found."""
        part = with_vector(self._blank, self._basis @ self._found)
        launches = replace(self._times.launches, **self._floors(is_launched))
        return replace(self._times, launches=launches, **{self._part: part})  # type: ignore[arg-type]  # by name

    def _floors(self, is_launched: Flags) -> dict[str, float]:
        return {
            name: 1e6 * _relative_mean(self._device_s[rows & is_launched], self._scale[rows & is_launched])
            for name, rows in self._kinds()
        }

    def _kinds(self) -> Iterator[tuple[str, Flags]]:
        if self._part == "decode":
            yield "decode_us", self.is_eager
        else:
            has_decodes = self._samples.steps.num_decode_seqs > 0
            yield "prompts_us", self.is_eager & ~has_decodes
            yield "mixed_us", self.is_eager & has_decodes


def _relative_mean(values: FloatColumn, scale: FloatColumn) -> float:
    """The constant for which relative errors are least; 0 for no values."""
    return float((values / scale**2).sum() / (1 / scale**2).sum()) if len(values) else 0.0


def _design(times: FittedTimes, part: str, samples: Samples, basis: Vector) -> Vector:
    """Device seconds of each step for one of each coefficient: the model itself says what it counts."""
    no_launches = LaunchTimes(decode_us=0.0, prompts_us=0.0, mixed_us=0.0)
    design = np.zeros((len(samples), basis.shape[1]))
    for place in np.flatnonzero(basis.any(axis=0)):
        unit = with_vector(getattr(times, part), basis[:, place])
        one = replace(times, launches=no_launches, **{part: unit})
        design[:, place] = FittedModel(one, None).step_times(samples.steps).device_s
    return design
