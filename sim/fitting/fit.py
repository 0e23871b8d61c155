"""Fits a cost model to measured steps."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from backends.cost_model import FloatColumn, StepTimes
from backends.simulated.calibration import ClassError
from backends.simulated.fitted_model import FittedModel
from backends.simulated.fitted_times import FittedTimes
from backends.simulated.step_class import STEP_CLASSES, step_classes
from sim.fitting.blank_times import blank_times
from sim.fitting.device_fit import fit_device
from sim.fitting.host_fit import fit_host
from sim.fitting.samples import Flags, Samples
from sim.fitting.shared_saving import shared_saving, with_saving

_STALL_SHARE = 0.5
"""A step that takes this much longer than predicted, and longer than nearly all do, has met with a stall."""
_STALL_SPREADS = 10.0


def fit(samples: Samples) -> FittedTimes:
    """Fit all times: means, not medians, since a request's time is a sum of steps.

    Steps in which something else took the processor are left out of the second round, as one of them would bend the
    tables around it; what they took too much is spread over all steps.
    """
    saving = shared_saving(blank_times(samples.steps), samples)
    predicted_s = predicted_times(_fitted(samples, saving), samples).duration_s
    excess_s = samples.times.duration_s - predicted_s
    is_stall = _stalls(samples, excess_s)
    times = _fitted(replace(samples, scale_s=predicted_s).where(~is_stall), saving)
    # Something else that ran beside a profile says little about runs.
    counted = samples.is_served if samples.is_served.any() else np.ones_like(is_stall)
    stalls_us = 1e6 * float(excess_s[is_stall & counted].sum()) / int(counted.sum())
    times = replace(times, host=replace(times.host, stalls_us=stalls_us))
    return _completed(times, set(step_classes(samples.steps).tolist()))


def _completed(times: FittedTimes, measured: set[int]) -> FittedTimes:
    """Give classes of steps without data what the most similar class has, so that they cost something."""

    def has(*names: str) -> bool:
        return any(STEP_CLASSES.index(name) in measured for name in names)

    launches, host = times.launches, times.host
    if not has("prefill eager"):
        launches = replace(launches, prompts_us=launches.mixed_us)
    if not has("mixed eager"):
        launches = replace(launches, mixed_us=launches.prompts_us)
    if not has("decode eager"):
        launches = replace(launches, decode_us=launches.prompts_us)
    in_graph = has("prefill graph", "mixed graph")
    fixed = {
        "decode_us": (has("decode graph"), host.eager_decode_us),
        "eager_decode_us": (has("decode eager"), host.decode_us),
        "prompts_us": (in_graph, host.eager_prompts_us),
        "eager_prompts_us": (has("prefill eager", "mixed eager"), host.prompts_us),
    }
    host = replace(host, **{name: other for name, (is_known, other) in fixed.items() if not is_known})
    return replace(times, launches=launches, host=host)


def _fitted(samples: Samples, saving: float) -> FittedTimes:
    return fit_host(fit_device(with_saving(blank_times(samples.steps), saving), samples), samples)


def _stalls(samples: Samples, excess_s: FloatColumn) -> Flags:
    is_stall = np.zeros(len(samples), dtype=np.bool_)
    classes, relative = step_classes(samples.steps), excess_s / (samples.times.duration_s - excess_s)
    for number in range(len(STEP_CLASSES)):
        rows = classes == number
        if rows.any():
            spread = np.median(np.abs(relative[rows] - np.median(relative[rows])))
            is_stall |= rows & (relative > max(_STALL_SHARE, _STALL_SPREADS * spread))
    return is_stall


def predicted_times(times: FittedTimes, samples: Samples) -> StepTimes[FloatColumn]:
    """Times of the steps, launched by the hosts that launched them; all else on a host of the reference speed."""
    predicted = StepTimes(np.zeros(len(samples)), np.zeros(len(samples)))
    for slowness in np.unique(samples.slowness):
        rows = samples.slowness == slowness
        found = FittedModel(times.launched_by(float(slowness)), None).step_times(samples.where(rows).steps)
        for column, values in zip(predicted, found, strict=True):
            column[rows] = values
    return predicted


def class_errors(times: FittedTimes, samples: Samples) -> Mapping[str, ClassError]:
    """Errors of predicted durations, by class of step; "all" of all steps."""
    predicted = predicted_times(times, samples)
    classes = step_classes(samples.steps)
    rows_of = {name: classes == number for number, name in enumerate(STEP_CLASSES)}
    rows_of["all"] = np.ones(len(samples), dtype=np.bool_)
    return {name: _error(predicted, samples.times, rows) for name, rows in rows_of.items() if rows.any()}


def _error(predicted: StepTimes[FloatColumn], measured: StepTimes[FloatColumn], rows: Flags) -> ClassError:
    expected, actual = predicted.duration_s[rows], measured.duration_s[rows]
    return ClassError(
        num_steps=int(rows.sum()),
        bias_percent=100 * float(expected.sum() / actual.sum() - 1),
        mean_error_percent=100 * float(np.mean(np.abs(expected / actual - 1))),
    )
