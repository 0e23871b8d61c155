"""Simulates a run with a fitted cost model."""

from pathlib import Path
from typing import Any

from sim.interrupt import Interrupt
from sim.parts import make_parts
from sim.replay import fit_trace, load_trace, replay
from sim.setting_sources import resolve


def simulate(run: Path, cost: Path, output: Path) -> dict[str, Any]:
    """Replay the trace of a run as `sim replay RUN/trace.jsonl.zst --like RUN --backend sim --cost COST` does.

    Returns:
        The summary.

    Raises:
        SimError: the run, or the cost model, does not suffice.
    """
    settings = resolve({"backend": "sim", "cost": str(cost)}, None, run)
    trace = load_trace(run / "trace.jsonl.zst", settings)
    parts = make_parts(settings)
    return replay(fit_trace(trace, parts), {}, parts, output, Interrupt(), lambda _, __: None)
