"""Fits what the host does while the device waits."""

from dataclasses import replace

import numpy as np

from backends.cost_model import FloatColumn, StepColumns
from backends.simulated.fitted_model import FittedModel
from backends.simulated.fitted_times import FittedTimes
from backends.simulated.step_class import step_classes
from sim.fitting.relative_fit import fit_relative
from sim.fitting.samples import Flags, Samples
from sim.fitting.vectors import Vector, places, to_vector, with_vector

_MIN_SERVED = 30
"""Steps of a class that runs must have for the class's steps of profiles to be left aside."""


def fit_host(times: FittedTimes, samples: Samples) -> FittedTimes:
    """Fill in the host times.

    What a step makes the host do falls into two laps: what comes before it has run into its own, what comes after into
    that of the next step.

        lap k     | update and record k-1 | schedule and execute k |
        lap k + 1 | update and record k   | schedule and execute k+1 |

    Both are fitted, and their sum is the step's, so that over many steps no time is lost.
    """
    chosen = samples.where(_is_telling(samples))
    followed = chosen.where(chosen.has_before)
    used = followed if len(followed) else chosen
    own, after = _design(times, used.steps), _design(times, used.before)
    # Which of the two a constant belongs to cannot be told where steps of one kind follow one another, as decodes do.
    after[:, _constants(times)] = 0.0
    if not len(followed):
        after = np.zeros_like(after)
    host_s = used.times.duration_s - used.times.device_s
    found = fit_relative(np.concatenate([own, after], axis=1), host_s, used.scale_s)
    own_us, after_us = np.split(found, 2)
    return replace(times, host=with_vector(times.host, own_us + after_us))


def _is_telling(samples: Samples) -> Flags:
    """Steps of runs; of a profile only those of classes that no run has, as its loop may be slower than a run's."""
    classes, is_telling = step_classes(samples.steps), samples.is_served.copy()
    for number in np.unique(classes):
        rows = classes == number
        if (rows & samples.is_served).sum() < _MIN_SERVED:
            is_telling |= rows
    return is_telling


def _constants(times: FittedTimes) -> list[int]:
    where = places(times.host)
    return [where[name].start for name in ("decode_us", "eager_decode_us")]


def _design(times: FittedTimes, steps: StepColumns[FloatColumn]) -> Vector:
    """Host seconds of each step for a microsecond of each time."""
    size, stalls = len(to_vector(times.host)), places(times.host)["stalls_us"].start
    columns = []
    for place, unit in enumerate(np.eye(size)):
        predicted = FittedModel(replace(times, host=with_vector(times.host, unit)), None).step_times(steps)
        # Stalls are counted apart: here they would be one more constant.
        columns.append((predicted.duration_s - predicted.device_s) * (place != stalls))
    return np.array(columns).T
