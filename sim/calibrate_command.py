"""`python -m sim calibrate`."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sim.clean_exit import clean_exit

if TYPE_CHECKING:
    from backends.simulated.calibration import Calibration


def calibrate(
    sources: Annotated[
        list[Path],
        typer.Argument(metavar="PROFILE_OR_RUN...", help="Files of `profile`, or directories of runs on a GPU."),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="File to write.", show_default=False)],
) -> None:
    """Fit a cost model to measured steps, for `replay --cost`."""
    with clean_exit():
        from backends.simulated.calibration_file import dump_calibration
        from sim.errors import SimError
        from sim.fitting.calibrate import calibrate as fit_all
        from sim.fitting.measured import read_measured
        from traces.whole_file import whole_file

        if output.suffix.lower() != ".toml":
            raise SimError(f"The output is {output}; its name must end in .toml, as replay tells files by that.")
        calibration = fit_all([read_measured(path) for path in sources])
        try:
            with whole_file(output) as draft:
                draft.write_text(dump_calibration(calibration), "utf-8")
        except OSError as error:
            raise SimError(f"The calibration cannot be written to {output}: {error.strerror or error}.") from error
        _print(calibration)


def _print(calibration: "Calibration") -> None:
    from rich.table import Table

    from analysis.console import table_console

    settings = calibration.settings
    table = Table(title=f"{settings.model}, block {settings.block_size}: {calibration.summary}")
    for name in ("held-out steps", "number", "bias, %", "mean error, %"):
        table.add_column(name, justify="left" if name == "held-out steps" else "right")
    for name, error in calibration.errors.items():
        table.add_row(name, f"{error.num_steps:,}", f"{error.bias_percent:+.2f}", f"{error.mean_error_percent:.2f}")
    console = table_console(sys.stdout)
    console.print(table)
    for source in calibration.sources:
        console.print(f"{source.kind} {source.name}: {source.num_steps:,} steps, {source.seconds:.1f} s")
