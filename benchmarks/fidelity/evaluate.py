"""Says how well the simulator agrees with runs on a GPU; needs no GPU.

    python -m benchmarks.fidelity.evaluate FOLDER --output fidelity.md --plots PLOTS

FOLDER is what `python -m benchmarks.fidelity` has made: a profile and runs. Every run is verified, simulated and
compared with a cost model that has not seen its workload: fitted to the profile and to the runs of all others.
"""

import shutil
from pathlib import Path
from typing import Annotated

import typer

from backends.simulated.calibration_file import dump_calibration
from benchmarks.fidelity.agreement import Agreement, agreement
from benchmarks.fidelity.measurement import workload_and_share
from benchmarks.fidelity.tables import markdown
from sim.clean_exit import clean_exit
from sim.errors import SimError
from sim.fitting.calibrate import calibrate
from sim.fitting.measured import read_measured


def main(
    folder: Annotated[Path, typer.Argument(help="Folder with profile.parquet and runs/.")],
    output: Annotated[Path | None, typer.Option(help="Markdown file for the tables. [printed]")] = None,
    plots: Annotated[Path | None, typer.Option(help="Folder for plots of residuals. [none]")] = None,
    only: Annotated[str, typer.Option(help="Runs whose names begin so.")] = "",
    cost: Annotated[Path | None, typer.Option(help="Calibration to use in place of those.")] = None,
    work: Annotated[Path | None, typer.Option(help="Where simulated runs go. [FOLDER/simulated]")] = None,
) -> None:
    """Fit, verify, simulate, compare."""
    with clean_exit():
        work = work or folder / "simulated"
        work.mkdir(parents=True, exist_ok=True)
        costs = {run: cost or _without(folder, workload_and_share(run.name)[0], work) for run in _runs(folder, only)}
        found = [_of_run(run, used, work / run.name) for run, used in costs.items()]
        text = markdown(found)
        if output is None:
            print(text)
        else:
            output.write_text(text, "utf-8")
        if plots is not None:
            from benchmarks.fidelity.residual_plots import residual_plots

            residual_plots(costs, plots)


def _without(folder: Path, workload: str, work: Path) -> Path:
    """A calibration that has seen no run of this workload, at no rate; fitted once."""
    path = work / f"without-{workload}.toml"
    sources = [
        folder / "profile.parquet",
        *[run for run in _runs(folder, "") if workload_and_share(run.name)[0] != workload],
    ]
    if not path.exists() or path.stat().st_mtime < max(source.stat().st_mtime for source in sources):
        path.write_text(dump_calibration(calibrate([read_measured(source) for source in sources])), "utf-8")
    return path


def _runs(folder: Path, only: str) -> list[Path]:
    runs = sorted(path.parent for path in folder.glob("runs/*/summary.json") if path.parent.name.startswith(only))
    if not runs:
        raise SimError(f"{folder} holds no finished run that begins with {only!r}; make some first.")
    return runs


def _of_run(run: Path, cost: Path, output: Path) -> Agreement:
    for old in output.parent.glob(f"{output.name}*"):
        if old.is_dir() and old.name in (output.name, f"{output.name}-host-known"):
            shutil.rmtree(old)
    found = agreement(run, cost, output)
    errors = ", ".join(f"{error.metric.title} {error.percent or 0:+.2f} %" for error in found.errors)
    print(f"{run.name}: {found.decisions}, {errors}, steps {found.bias.classes['all'].bias_percent:+.2f} %", flush=True)
    return found


if __name__ == "__main__":
    typer.run(main)
