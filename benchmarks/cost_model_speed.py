"""How long a cost model takes for one step, as when a simulation steps.

python -m benchmarks.cost_model_speed [MODEL.toml]
"""

import timeit
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from backends.cost_model import CostModel, StepColumns
from backends.simulated import ModelShard, RooflineModel, load_gpu_sheet, load_model_sheet
from backends.simulated.calibration_file import load_calibration, shipped_calibrations
from backends.simulated.fitted_model import FittedModel
from backends.simulated.least_time import LeastTime
from engine.step_shape import StepShape

_DECODE = StepColumns.one_row(StepShape(0, 0, 0, 0, 0, 1, 900, 64, 64 * 700, 64 * 710**2, 900, 0, 64, 3, 0, 1), 64)
_MIXED = StepColumns.one_row(
    StepShape(500, 2, 500 * 300, 500 * 250, 600, 300, 900, 64, 64 * 700, 64 * 710**2, 900, 0, 66, 3, 0, 1), None
)
_CALLS, _ROUNDS = 5000, 9


def main(
    calibration: Annotated[Path | None, typer.Argument(help="[a file of the package]")] = None,
    model: Annotated[str, typer.Option(help="Named size of the roofline and of the bound.")] = "Qwen3-0.6B",
) -> None:
    """Best of several rounds, in microseconds a call."""
    sheet, gpu = load_model_sheet(model), load_gpu_sheet("h200")
    fitted = load_calibration(calibration) if calibration else next(iter(shipped_calibrations()))[1]
    models: dict[str, CostModel] = {
        "fitted": FittedModel(fitted.times, LeastTime(ModelShard(sheet, 1), gpu)),
        "roofline": RooflineModel(sheet, gpu),
    }
    for name, cost_model in models.items():
        print_times(name, cost_model)


def print_times(name: str, cost_model: CostModel) -> None:
    """One line."""
    times_us = [1e6 * seconds_of_one(cost_model, step) for step in (_DECODE, _MIXED)]
    Console().print(
        f"{name}: decode step of 64 rows {times_us[0]:.2f} us, eager mixed step {times_us[1]:.2f} us", highlight=False
    )


def seconds_of_one(cost_model: CostModel, step: StepColumns[float]) -> float:
    """Best mean of `_CALLS` calls."""
    rounds = timeit.repeat(lambda: cost_model.step_times(step), number=_CALLS, repeat=_ROUNDS)
    return min(rounds) / _CALLS


if __name__ == "__main__":
    typer.run(main)
