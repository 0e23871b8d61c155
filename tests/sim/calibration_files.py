"""Calibration files for tests."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from backends.simulated.calibration import CalibratedSettings, Calibration, ClassError, Source
from backends.simulated.calibration_file import dump_calibration
from backends.simulated.envelope import Envelope, columns_of
from backends.simulated.step_class import STEP_CLASSES
from tests.backends.fitted_numbers import fitted_times

SETTINGS = CalibratedSettings(
    model="Qwen3-0.6B", gpu="H200", tp=1, block_size=16, dtype="bfloat16", attention="flash4", max_model_len=40_960
)


def calibration_file(
    folder: Path, *, most: float = 1e12, host_probe_us: float | None = None, **settings: Any
) -> Path:  # settings of any type
    """A made-up calibration of Qwen3-0.6B on an H200, measured up to `most` of everything."""
    host = {} if host_probe_us is None else {"host_probe_us": host_probe_us}
    ranges = {name: dict.fromkeys(columns_of(name), (0.0, most)) for name in STEP_CLASSES}
    calibration = Calibration(
        settings=replace(SETTINGS, **settings),
        hardware={"gpu": "NVIDIA H200", **host},
        versions={},
        sources=(Source(name="made-up", kind="profile", num_steps=1, seconds=1.0),),
        errors={"all": ClassError(num_steps=10, bias_percent=0.1, mean_error_percent=1.25)},
        envelope=Envelope(ranges),
        times=fitted_times(),
    )
    path = folder / "made-up.toml"
    path.write_text(dump_calibration(calibration))
    return path
