"""Which GPU a simulation is of, where none is named."""

from pathlib import Path

from backends.simulated.calibration_file import load_calibration
from backends.simulated.gpu_sheet import gpu_sheet_of

DEFAULT = "H200"


def simulated_gpu(named: str | None, cost: str | None) -> str:
    """The GPU to simulate: the one that is named, else that of the calibration, else an H200.

    Args:
        named: by the user, as a name or a sheet file.
        cost: where step times come from, as of a replay.

    Raises:
        SheetError: the calibration cannot be read.
    """
    if named is not None:
        return named
    if cost is None or not is_calibration(cost):
        return DEFAULT
    sheet = gpu_sheet_of(load_calibration(Path(cost)).settings.gpu)
    return DEFAULT if sheet is None else sheet.name


def is_calibration(cost: str) -> bool:
    """Whether step times are those of a file of `sim calibrate`; it is told by its name."""
    return Path(cost).suffix.lower() == ".toml"
