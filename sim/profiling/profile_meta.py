"""What a profile says about itself."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from sim.machine import machine
from sim.parts import Parts
from sim.profiling.load import Load
from sim.profiling.spread import Spread
from sim.profiling.sweep import Sweep
from sim.versions import versions


def profile_meta(
    parts: Parts, loads: Sequence[Load], swept: Sweep, spreads: Sequence[Spread], max_seconds: float
) -> dict[str, Any]:
    """The metadata.

    Returns:
        settings: of the engine, resolved.
        num_kv_blocks, graph_sizes, mixed_graph_sizes, notices: of the backend; a notice names the attention kernels.
        hardware, versions, ended_at: what it was taken on, and when it ended.
        host_probe_us: how quick the host was, see `sim.host_speed`; None where nothing real ran.
        max_seconds, seconds: time allowed, time taken, start-up not counted.
        loads: name, family and number of warm-up steps of each load that was planned; `load` of a step counts into it.
        skipped: numbers of loads that did not run, or not to their end.
        spread_fields, spreads: see `Spread`, one list of values each.
    """
    return {
        "settings": asdict(parts.settings),
        "num_kv_blocks": parts.engine.backend.num_blocks,
        "graph_sizes": parts.engine.graph_sizes,
        "mixed_graph_sizes": parts.engine.mixed_graph_sizes,
        "notices": parts.engine.notices,
        "hardware": parts.engine.hardware | machine(),
        "host_probe_us": None if parts.engine.host_speed is None else parts.engine.host_speed.probe_us,
        "versions": versions(),
        "ended_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "max_seconds": max_seconds,
        "seconds": round(swept.seconds, 3),
        "loads": [{"name": load.name, "family": load.family, "num_warm_up": load.num_warm_up} for load in loads],
        "skipped": swept.skipped,
        "spread_fields": Spread._fields,
        "spreads": [[_short(value) for value in spread] for spread in spreads],
    }


def _short(value: float) -> float:
    return value if isinstance(value, int) else float(f"{value:.6g}")
