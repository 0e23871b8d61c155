"""Fits device times."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from backends.cost_model import FloatColumn
from backends.simulated.fitted_times import FittedTimes, LaunchTimes
from sim.fitting.device_design import DeviceDesign
from sim.fitting.relative_fit import fit_relative
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
        self._design = DeviceDesign(blank, samples)

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
        matrix, wishes = self._design.matrix, self._design.wishes
        self._found: Vector = fit_relative(matrix[rows], self._device_s[rows], self._scale[rows], wishes)
        work: FloatColumn = matrix @ self._found
        return work

    def floor(self, is_launched: Flags) -> FloatColumn:
        """Time that its host took to launch each step's kernels, from the steps that were bound by it."""
        floor, floors = np.zeros(len(self._samples)), self._floors(is_launched)
        for name, rows in self._kinds():
            floor[rows] = floors[name] * 1e-6
        return floor * self._samples.slowness

    def filled(self, is_launched: Flags) -> FittedTimes:
        """Everything with what was found."""
        times = with_vector(self._blank, self._design.basis @ self._found)
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


def _relative_mean(values: FloatColumn, scale: FloatColumn) -> float:
    """The constant for which relative errors are least; 0 for no values."""
    return float((values / scale**2).sum() / (1 / scale**2).sum()) if len(values) else 0.0
