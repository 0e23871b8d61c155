"""Simulates a run with a fitted cost model."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from sim.interrupt import Interrupt
from sim.parts import make_parts
from sim.replay import fit_trace, load_trace, replay
from sim.setting_sources import resolve


def simulate(run: Path, cost: Path, output: Path, host_probe_us: float | None = None) -> dict[str, Any]:
    """Replay the trace of a run as `sim replay RUN/trace.jsonl.zst --like RUN --backend sim --cost COST` does.

    Args:
        run: directory of a run.
        cost: a calibration.
        output: the directory to make.
        host_probe_us: how quick the host was; None = as quick as usual for the calibration.

    Returns:
        The summary.

    Raises:
        SimError: the run, or the cost model, does not suffice.
    """
    given = {"backend": "sim", "cost": str(cost)}
    settings = replace(resolve(given, None, run), host_probe_us=host_probe_us)
    trace = load_trace(run / "trace.jsonl.zst", settings)
    parts = make_parts(settings)
    return replay(fit_trace(trace, parts), {}, parts, output, Interrupt(), lambda _, __: None)
