"""Makes the parts of a replica from settings: the one place that knows which class stands behind a name."""

from dataclasses import asdict, dataclass, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from analysis.run import load
from backends.cost_model import CostModel, StepColumns, StepTimes
from backends.graph_sizes import graph_sizes
from backends.recorded import RecordedCostModel
from backends.simulated import RooflineModel, SimulatedBackend, load_gpu_sheet, load_model_sheet, num_kv_blocks
from engine import Backend, Limits, Policy
from sim.errors import SimError
from sim.pace import Pace, VirtualPace, WallPace
from sim.policy_loader import load_policy
from sim.replay_settings import POLICY_SETTINGS, ReplaySettings
from sim.step_clock import PredictedClock, StepClock


@dataclass(frozen=True, slots=True)
class Parts:
    """What a replay is put together from.

    Attributes:
        settings: with everything filled in that follows from sheets.
        limits: of the engine.
        policy: how to schedule.
        backend: what executes.
        step_clock: how long steps last.
        pace: the run's clock.
        graph_sizes: batch sizes of captured graphs.
        hardware: what runs or is modelled, for the record.
    """

    settings: ReplaySettings
    limits: Limits
    policy: Policy
    backend: Backend
    step_clock: StepClock
    pace: Pace
    graph_sizes: tuple[int, ...]
    hardware: dict[str, Any]


def make_parts(settings: ReplaySettings) -> Parts:
    """Make everything that a replay needs but the trace.

    Raises:
        SheetError: a model or GPU is not known.
        SimError: a policy is not known or lacks a setting.
        SettingError: settings are out of range or do not fit each other.
    """
    model, gpu = load_model_sheet(settings.model), load_gpu_sheet(settings.gpu)
    limits = Limits(
        block_size=settings.block_size,
        max_num_batched_tokens=settings.max_num_batched_tokens,
        max_num_seqs=settings.max_num_seqs,
        max_model_len=model.max_model_len if settings.max_model_len is None else settings.max_model_len,
    )
    policy = load_policy(settings.policy, settings.policy_settings)
    sizes = graph_sizes(limits.max_num_seqs) if settings.graph_sizes is None else settings.graph_sizes
    num_blocks = settings.num_blocks
    if num_blocks is None:
        num_blocks = num_kv_blocks(
            model,
            gpu,
            tp=settings.tp,
            block_size=limits.block_size,
            memory_utilization=settings.memory_utilization,
            max_num_batched_tokens=limits.max_num_batched_tokens,
            max_num_seqs=limits.max_num_seqs,
        )
    backend = SimulatedBackend(
        _cost_model(settings, RooflineModel(model, gpu, settings.tp)),
        num_blocks=num_blocks,
        graph_sizes=sizes,
        vocab_size=model.vocab_size,
    )
    resolved = replace(settings, max_model_len=limits.max_model_len, **_settings_of(policy))
    hardware = {"kind": "simulated", "model": model.name, "gpu": gpu.name, "num_gpus": settings.tp}
    pace = WallPace() if settings.pace == "wall" else VirtualPace()
    return Parts(resolved, limits, policy, backend, PredictedClock(), pace, sizes, hardware)


def _settings_of(policy: Policy) -> dict[str, Any]:
    """Settings that a policy has filled in by default, so that the record is complete."""
    values: dict[str, Any] = asdict(policy) if is_dataclass(policy) and not isinstance(policy, type) else {}
    return {name: value for name, value in values.items() if name in POLICY_SETTINGS}


def _cost_model(settings: ReplaySettings, roofline: RooflineModel) -> CostModel:
    if settings.cost == "roofline":
        return roofline
    path = Path(settings.cost)
    if not path.is_dir():
        raise SimError(f"cost is {settings.cost!r}; give roofline, or the directory of a run to take step times from.")
    return recorded_model(path)


def recorded_model(path: Path) -> RecordedCostModel:
    """The step times of a run.

    Raises:
        RunError: there is no run.
    """
    table = load(path).table("steps")
    names = (*StepColumns._fields, *StepTimes._fields)
    # A step that ran eager has no graph size; the cost model's columns say 0 for that.
    columns = {name: np.array(table.column(name).to_pylist(), dtype=np.float64) for name in names}
    columns["graph_size"] = np.nan_to_num(columns["graph_size"])
    times = StepTimes(*(columns[name] for name in StepTimes._fields))
    return RecordedCostModel(StepColumns.from_table(columns), times)
