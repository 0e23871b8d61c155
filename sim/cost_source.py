"""Where a simulated engine's step times come from."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from analysis.run import Run, load
from backends.cost_model import CostModel, StepColumns, StepTimes
from backends.recorded import RecordedCostModel
from backends.simulated import GpuSheet, ModelShard, ModelSheet, RooflineModel, Term
from backends.simulated.calibration import Calibration
from backends.simulated.calibration_file import load_calibration, shipped_calibrations
from backends.simulated.envelope import Envelope
from backends.simulated.fitted_model import FittedModel
from backends.simulated.gpu_sheet import gpu_sheet_of, is_sheet_of
from backends.simulated.least_time import LeastTime
from engine import StepShape
from sim.client_record import refuse_client_record
from sim.errors import SimError
from sim.host_speed import REFERENCE_PROBE_US
from sim.outside import outside_of, step_values
from sim.replay_settings import ReplaySettings
from sim.simulated_gpu import is_calibration

_Differences = dict[str, tuple[object, object]]
_CHOICES = {"block_size": "--block-size", "attention": "attention"}
"""Settings that a user may change for better step times; model, GPU, degree and number format are what it is about."""
_CONSEQUENCES = {
    "gpu": "there is no sheet of the former, so memory and the least time of a step are of the {asked}",
    "block_size": "attention and the host's work on blocks may take other times, and with --block-size {was} they are "
    "the measured ones",
    "attention": "attention may take other times",
    "dtype": "all step times may be far off",
}
"""What it means that the replay differs in these from what was calibrated."""
_DTYPE_BYTES = {"bfloat16": 2, "float16": 2, "float32": 4}


@dataclass(frozen=True, slots=True, kw_only=True)
class CostSource:
    """A cost model with what a report should say about it.

    Attributes:
        model: predicts.
        kind: of model.
        text: one clause: what it rests on.
        explain: the terms of one step, by shape and graph size; None if it has none.
        envelope: step shapes that it was fitted to; None if it was not fitted.
        check_finished: called when a run has come to its end; raises if the model expected more of it.
        notices: sentences for the user.
        host_probe_us: how quick the simulated host is; None if that is not known.
    """

    model: CostModel
    kind: Literal["roofline", "recorded", "fitted"]
    text: str
    explain: Callable[[StepShape, int | None], tuple[Term, ...]] | None = None
    envelope: Envelope | None = None
    check_finished: Callable[[], None] = lambda: None
    notices: tuple[str, ...] = ()
    host_probe_us: float | None = None

    def described(self) -> dict[str, Any]:
        """For the record."""
        return {"kind": self.kind, "text": self.text}

    def judged(self, run: Run) -> dict[str, Any]:
        """For the summary of a run: also its steps that lie outside the envelope, None without one."""
        outside = {"outside_share": None} if self.envelope is None else outside_of(self.envelope, run)
        return self.described() | outside | {"host_probe_us": self.host_probe_us}

    def outside_text(self, shape: StepShape, graph_size: int | None) -> str | None:
        """A sentence if one step lies outside the envelope."""
        if self.envelope is None:
            return None
        found = self.envelope.excesses(StepColumns.from_rows([shape], [graph_size]))
        sizes = [each.size if each.limit is None else f"{each.size} (measured: {each.limit:g})" for each in found]
        return f"No such step was calibrated for: {', '.join(sizes)}." if found else None


def cost_source(settings: ReplaySettings, model: ModelSheet, gpu: GpuSheet) -> CostSource:
    """The cost model that the settings name; by default a calibration of this package, or if none fits a roofline.

    Raises:
        SimError: there is no such cost model, or it is one of another engine.
        SheetError: a calibration is damaged.
        RunError: a run is damaged.
    """
    source = _cost_source(settings, model, gpu)
    if settings.host_probe_us is not None and source.kind != "fitted":
        raise SimError(
            f"host_probe_us is {settings.host_probe_us}, but {source.kind} step times know no host's speed; leave it "
            "out, or give a calibration as cost."
        )
    return source


def _cost_source(settings: ReplaySettings, model: ModelSheet, gpu: GpuSheet) -> CostSource:
    """The same, whatever is said of the host."""
    if settings.cost is None:
        shipped = [(each, _differences(each[1], settings, model, gpu)) for each in shipped_calibrations()]
        fitting = [each for each, differences in shipped if not differences]
        if fitting:
            return _fitted(*fitting[0], model, gpu, settings.host_probe_us)
        return replace(_roofline(settings, model, gpu), notices=_nearly([differences for _, differences in shipped]))
    if settings.cost == "roofline":
        return _roofline(settings, model, gpu)
    path = Path(settings.cost)
    if is_calibration(settings.cost):
        return _given(path, settings, model, gpu)
    if not path.is_dir():
        raise SimError(
            f"cost is {settings.cost!r}; give roofline, a file of `sim calibrate` (NAME.toml), or the directory of a "
            "run to take step times from."
        )
    recorded = recorded_model(path)
    return CostSource(
        model=recorded,
        kind="recorded",
        text=f"step times of the run {path.resolve().name}",
        check_finished=recorded.check_finished,
    )


def recorded_model(path: Path) -> RecordedCostModel:
    """The step times of a run.

    Raises:
        RunError: there is no run.
        SimError: a client recorded it.
    """
    run = load(path)
    refuse_client_record(run, "steps", "give a run of sim replay, a file of `sim calibrate` (NAME.toml), or roofline")
    columns = step_values(run, (*StepColumns._fields, *StepTimes._fields))
    # A step that ran eager has no graph size; the cost model's columns say 0 for that.
    columns["graph_size"] = np.nan_to_num(columns["graph_size"])
    times = StepTimes(*(columns[name] for name in StepTimes._fields))
    return RecordedCostModel(StepColumns.from_table(columns), times)


def _roofline(settings: ReplaySettings, model: ModelSheet, gpu: GpuSheet) -> CostSource:
    roofline = RooflineModel(model, gpu, settings.tp)
    return CostSource(model=roofline, kind="roofline", text="uncalibrated", explain=roofline.explain)


def _given(path: Path, settings: ReplaySettings, model: ModelSheet, gpu: GpuSheet) -> CostSource:
    calibration = load_calibration(path)
    differences = _differences(calibration, settings, model, gpu)
    for name in ("model", "tp"):
        if name in differences:
            was, asked = differences[name]
            raise SimError(
                f"{path} is calibrated with {name} {was}, but the replay has {asked}; give --{name} {was}, or a "
                "calibration of that engine."
            )
    if "gpu" in differences and gpu_sheet_of(calibration.settings.gpu) is not None:
        raise SimError(_other_gpu(path, *differences["gpu"]))
    notices = [
        f"{path.name} is calibrated with {name.replace('_', ' ')} {was}, but the replay has {asked}: "
        f"{_CONSEQUENCES[name].format(was=was, asked=asked)}."
        for name, (was, asked) in differences.items()
    ]
    return _fitted(path.stem, calibration, model, gpu, settings.host_probe_us, tuple(notices))


def _other_gpu(path: Path, was: object, asked: object) -> str:
    return (
        f"{path} is fitted to step times of GPU {was}, but the replay is on {asked}; give --gpu {was} or leave --gpu "
        f"out, or for {asked} take a calibration of its own or --cost roofline."
    )


def _fitted(
    name: str,
    calibration: Calibration,
    model: ModelSheet,
    gpu: GpuSheet,
    host_probe_us: float | None,
    notices: tuple[str, ...] = (),
) -> CostSource:
    least = LeastTime(ModelShard(model, calibration.settings.tp), gpu)
    probe_us = _simulated_probe_us(calibration, host_probe_us)
    # Times of a host of unknown speed are used as they are.
    fitted = FittedModel(calibration.times.on_host((probe_us or REFERENCE_PROBE_US) / REFERENCE_PROBE_US), least)
    return CostSource(
        model=fitted,
        kind="fitted",
        explain=fitted.explain,
        text=f"{name}, {calibration.summary}",
        envelope=calibration.envelope,
        notices=notices,
        host_probe_us=probe_us,
    )


def _simulated_probe_us(calibration: Calibration, host_probe_us: float | None) -> float | None:
    """How quick the host to simulate is; by default as those that the calibration was measured on."""
    usual_us = calibration.hardware.get("host_probe_us")
    if isinstance(usual_us, str) or usual_us is None:
        if host_probe_us is not None:
            raise SimError(
                f"host_probe_us is {host_probe_us}, but the calibration does not say what host its times are from; "
                "leave it out, or calibrate anew."
            )
        return None
    return host_probe_us or usual_us


def _differences(calibration: Calibration, settings: ReplaySettings, model: ModelSheet, gpu: GpuSheet) -> _Differences:
    """Settings in which the calibrated engine and the one to simulate differ, with both values."""
    was = calibration.settings
    pairs: dict[str, tuple[object, object]] = {
        "model": (was.model, model.name),
        "tp": (was.tp, settings.tp),
        "gpu": (was.gpu, was.gpu if is_sheet_of(gpu.name, was.gpu) else gpu.name),
        "block_size": (was.block_size, settings.block_size),
    }
    if settings.attention is not None:
        pairs["attention"] = (was.attention, settings.attention)
    if _DTYPE_BYTES.get(was.dtype) != model.dtype_bytes:
        pairs["dtype"] = (was.dtype, f"{model.dtype_bytes} bytes a number")
    return {name: values for name, values in pairs.items() if values[0] != values[1]}


def _nearly(shipped: Sequence[_Differences]) -> tuple[str, ...]:
    """What to set for calibrated step times, if nothing but settings of the replay is in the way."""
    near = [differences for differences in shipped if differences.keys() <= _CHOICES.keys()]
    if not near:
        return ()
    wanted = " and ".join(f"{_CHOICES[name]} {was}" for name, (was, _) in min(near, key=len).items())
    return (f"Step times are the roofline's; with {wanted} they would be calibrated.",)
