"""What rates to run workloads at, and for how long: found by simulation, which takes no time on a GPU."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from backends.simulated.calibration_file import dump_calibration
from benchmarks.fidelity.bench import Bench
from benchmarks.fidelity.measurement import Measurement
from benchmarks.fidelity.workload import Workload
from sim.fitting.calibrate import calibrate
from sim.fitting.measured import read_measured
from sim.parts import make_parts
from sim.profiling.profile_file import read_profile
from sim.replay_settings import ReplaySettings
from sim.step_clock import PredictedClock

_LONGER = 6.0
"""A simulation shows the sustained rate over so many times what a run on a GPU could be given for it."""
_MAX_TRIES = 4
_FILE = "plan.json"


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """One run.

    Attributes:
        rate: requests a second.
        window_s: seconds of arrivals.
        expected_s: how long it takes in simulation, its last requests included.
    """

    rate: float
    window_s: float
    expected_s: float


def read_plan(folder: Path) -> dict[str, PlannedRun]:
    """What has been planned, by name of the measurement's workload and share; nothing if there is no file."""
    path = folder / _FILE
    if not path.exists():
        return {}
    return {name: PlannedRun(**values) for name, values in json.loads(path.read_text("utf-8")).items()}


def make_plan(
    folder: Path,
    traces: Path,
    measurements: Sequence[Measurement],
    window_s: float,
    max_run_s: float,
    tell: Callable[[str], None],
) -> None:
    """Plan the runs that are not planned yet, with a cost model fitted to the folder's profile.

    Args:
        folder: has the profile; gets the plan.
        traces: folder of trace files.
        measurements: what to run.
        window_s: seconds of arrivals; less where a run would take longer than `max_run_s`.
        max_run_s: most seconds that a run may take.
        tell: called with a line for each workload.
    """
    plan, bench, rates = read_plan(folder), _bench(folder, traces), dict[str, float]()
    for each in measurements:
        workload = each.workload
        if each.case in plan:
            continue
        if workload.name not in rates:
            slower = replace(workload, saturated_s=_LONGER * workload.saturated_s)
            rates[workload.name] = bench.sustained_rate(slower)
            tell(f"{workload.name}: {rates[workload.name]:.4g} requests/s can be sustained")
        plan[each.case] = planned(bench, workload, rates[workload.name] * each.share / 100, window_s, max_run_s)
        (folder / _FILE).write_text(json.dumps({name: asdict(run) for name, run in plan.items()}, indent=1), "utf-8")


def planned(bench: Bench, workload: Workload, rate: float, window_s: float, max_run_s: float) -> PlannedRun:
    """The longest window, up to `window_s`, with which a run takes no longer than `max_run_s`, or one near it."""
    for _ in range(_MAX_TRIES):
        expected_s = bench.simulated_s(workload, rate, window_s)
        if expected_s <= max_run_s:
            break
        window_s *= max(0.2, 0.97 * max_run_s / expected_s)
    return PlannedRun(rate, round(window_s, 3), round(expected_s, 3))


def _bench(folder: Path, traces: Path) -> Bench:
    """The profiled engine, simulated."""
    profile = folder / "profile.parquet"
    cost = folder / "profile.toml"
    if not cost.exists() or cost.stat().st_mtime < profile.stat().st_mtime:
        cost.write_text(dump_calibration(calibrate([read_measured(profile)])), "utf-8")
    meta = read_profile(profile).meta
    return Bench(make_parts(_simulated(meta, cost)), PredictedClock, folder, traces)


def _simulated(meta: dict[str, Any], cost: Path) -> ReplaySettings:
    given: dict[str, Any] = meta["settings"]
    kept = {name: given[name] for name in _KEPT}
    return ReplaySettings(
        **kept, backend="sim", cost=str(cost), pace="virtual", num_blocks=meta["num_kv_blocks"],
        graph_sizes=tuple(meta["graph_sizes"]), mixed_graph_sizes=tuple(meta["mixed_graph_sizes"]),
    )  # fmt: skip


_KEPT = ("model", "block_size", "max_num_seqs", "max_num_batched_tokens", "max_model_len", "policy", "seed")
