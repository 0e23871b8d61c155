"""Makes the calibrations of the package anew, from what `python -m benchmarks.fidelity` has measured.

    python -m benchmarks.fidelity.ship FOLDER...

A folder has the profile and the runs of one model, block size and attention, which name the file.
"""

from importlib import resources
from pathlib import Path
from typing import Annotated

import typer

from backends.simulated.calibration import CalibratedSettings
from backends.simulated.calibration_file import dump_calibration
from sim.clean_exit import clean_exit
from sim.errors import SimError
from sim.fitting.calibrate import calibrate
from sim.fitting.measured import read_measured


def main(
    folders: Annotated[list[Path], typer.Argument(help="Folders with profile.parquet and, if made, runs/.")],
    output: Annotated[Path | None, typer.Option(help="Where the files go. [the package]")] = None,
) -> None:
    """Fit each folder and write its file."""
    with clean_exit():
        target = output or Path(str(resources.files("backends.simulated").joinpath("calibrations")))
        target.mkdir(parents=True, exist_ok=True)
        for folder in folders:
            calibration = calibrate([read_measured(source) for source in sources(folder)])
            path = target / f"{file_stem(calibration.settings)}.toml"
            path.write_text(dump_calibration(calibration), "utf-8")
            print(f"{path}: {calibration.summary}", flush=True)


def sources(folder: Path) -> list[Path]:
    """The profile and all finished runs of a folder.

    Raises:
        SimError: there is no profile.
    """
    profile = folder / "profile.parquet"
    if not profile.exists():
        raise SimError(f"{folder} has no profile.parquet; name a folder of `python -m benchmarks.fidelity`.")
    return [profile, *sorted(path.parent for path in folder.glob("runs/*/summary.json"))]


def file_stem(settings: CalibratedSettings) -> str:
    """Name of a calibration: what it is told apart by."""
    tp = f"-tp{settings.tp}" * (settings.tp > 1)
    return f"{settings.model}-{settings.gpu}{tp}-block{settings.block_size}-{settings.attention}".lower()


if __name__ == "__main__":
    typer.run(main)
