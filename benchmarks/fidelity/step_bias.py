"""Error of predicted step times on the steps of a run."""

from collections.abc import Mapping
from pathlib import Path

from backends.simulated.calibration import Calibration, ClassError
from sim.fitting.fit import class_errors
from sim.fitting.measured import read_measured


def step_bias(calibration: Calibration, run: Path) -> Mapping[str, ClassError]:
    """Errors on each class of steps of a run that the calibration has not seen, its host's speed known; "all" of all.

    Raises:
        RunError: the run is damaged.
    """
    return class_errors(calibration.times, read_measured(run).at_reference)
