"""Fits device times."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

import numpy as np

from backends.cost_model import FloatColumn
from backends.simulated.fitted_model import FittedModel
from backends.simulated.fitted_times import DecodeTimes, FittedTimes, LaunchTimes, PromptTimes
from sim.fitting.blank_times import MAX_SPLIT_ROWS
from sim.fitting.relative_fit import fit_relative
from sim.fitting.samples import Flags, Samples
from sim.fitting.vectors import Vector, places, to_vector, with_vector

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
        self._basis = _basis(self._blank)
        self._design = _design(times, part, samples) @ self._basis
        wishes = [wish @ self._basis for wish in _wishes(self._blank)]
        self._wishes = [wish for wish in wishes if wish.any()]

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


def _design(times: FittedTimes, part: str, samples: Samples) -> Vector:
    """Device seconds of each step for a microsecond of each time of the part: the model itself says what it counts."""
    no_launches = LaunchTimes(decode_us=0.0, prompts_us=0.0, mixed_us=0.0)
    size = len(to_vector(getattr(times, part)))
    columns = []
    for unit in np.eye(size):
        one = replace(times, launches=no_launches, **{part: with_vector(getattr(times, part), unit)})
        columns.append(FittedModel(one, None).step_times(samples.steps).device_s)
    return np.array(columns).T


def _basis(blank: DecodeTimes | PromptTimes) -> Vector:
    """Times from coefficients: those of products are sums of steps upwards, so that more tokens never take less time.

    What attention takes whatever the contexts is left to the products in the first band, which cannot be told apart.
    """
    basis, where = np.eye(len(to_vector(blank))), places(blank)
    products = where["products.time_us"]
    basis[products, products] = np.tril(np.ones((products.stop - products.start,) * 2))
    points = blank.attention.rows
    first = where["attention.call_us"].start
    unused = set(range(first, first + len(points)))
    # What the longest context adds is told by the step's band where contexts are split, else by its skew.
    lone = where["attention.longest_per_1k_us"]
    for place in range(lone.start, lone.stop):
        if isinstance(blank, PromptTimes) or points[(place - lone.start) % len(points)] > MAX_SPLIT_ROWS:
            unused.add(place)
    if isinstance(blank, DecodeTimes):
        skew = where["skew.longest_per_1k_us"].start
        unused |= set(range(skew, skew + len(blank.skew.ratios)))
    for place in unused:
        basis[place, place] = 0.0
    return basis


def _wishes(blank: DecodeTimes | PromptTimes) -> Iterator[Vector]:
    """Neighbours in tables should be alike, bands too, and slopes of products."""
    size, where = len(to_vector(blank)), places(blank)
    for name in ("call_us", "per_1k_tokens_us", "longest_per_1k_us"):
        for first, second in _neighbours(len(blank.attention.context_limits) + 1, len(blank.attention.rows)):
            wish = np.zeros(size)
            start = where[f"attention.{name}"].start
            wish[start + first], wish[start + second] = 1.0, -1.0
            yield wish
    if isinstance(blank, DecodeTimes):
        start = where["skew.longest_per_1k_us"].start
        for first, second in _neighbours(len(blank.skew.row_limits) + 1, len(blank.skew.ratios)):
            wish = np.zeros(size)
            wish[start + first], wish[start + second] = 1.0, -1.0
            yield wish
    start, points = where["products.time_us"].start, blank.products.tokens
    for place in range(len(points) - 2):
        left, right = points[place + 1] - points[place], points[place + 2] - points[place + 1]
        wish = np.zeros(size)
        wish[start + place : start + place + 3] = (1 / left, -1 / left - 1 / right, 1 / right)
        yield wish * min(left, right)


def _neighbours(num_bands: int, num_points: int) -> Iterator[tuple[int, int]]:
    for band in range(num_bands):
        for point in range(num_points):
            place = band * num_points + point
            if point + 1 < num_points:
                yield place, place + 1
            if band + 1 < num_bands:
                yield place, place + num_points
