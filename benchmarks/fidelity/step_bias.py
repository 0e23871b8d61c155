"""Error of predicted step times on the steps of a run."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from backends.simulated.calibration import Calibration, ClassError
from sim.fitting.fit import class_errors, predicted_times
from sim.fitting.measured import read_measured


@dataclass(frozen=True, slots=True)
class StepBias:
    """Errors on the steps of a run that the calibration has not seen, its host's speed known.

    Attributes:
        classes: by class of step; "all" of all.
        device_percent: what device times are wrong by, in percent of the time of all steps.
        host_percent: likewise what the host does beside; the two add up to the bias of all.
    """

    classes: Mapping[str, ClassError]
    device_percent: float
    host_percent: float


def step_bias(calibration: Calibration, run: Path) -> StepBias:
    """Predict the run's own steps.

    Raises:
        RunError: the run is damaged.
    """
    samples = read_measured(run).at_reference
    predicted, measured = predicted_times(calibration.times, samples), samples.times
    wrong_s, device_s = (float((mine - real).sum()) for mine, real in zip(predicted, measured, strict=True))
    percent = 100 / float(measured.duration_s.sum())
    return StepBias(class_errors(calibration.times, samples), device_s * percent, (wrong_s - device_s) * percent)
