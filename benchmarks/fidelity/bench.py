"""Runs workloads on an engine that has been loaded once."""

import gc
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.fidelity.borrowed_backend import BorrowedBackend
from benchmarks.fidelity.measurement import Measurement
from benchmarks.fidelity.workload import Workload
from sim.errors import SimError
from sim.interrupt import Interrupt
from sim.pace import VirtualPace, WallPace
from sim.parts import Parts
from sim.replay import OnProgress, fit_trace, load_trace, replay
from sim.replay_settings import ReplaySettings
from sim.step_clock import StepClock
from traces import Trace

_ALL_AT_ONCE = 1e6
"""Factor on a trace's rate that makes its requests come at nearly one instant."""
_SATURATED_REQUESTS = 6000
_RAMP_UP = 0.5


@dataclass(frozen=True, slots=True)
class Bench:
    """An engine and where its runs go.

    Attributes:
        parts: the engine, loaded.
        make_clock: makes the step clock of a run.
        folder: gets one run directory for each run, under `runs`.
        traces: folder of trace files.
    """

    parts: Parts
    make_clock: Callable[[], StepClock]
    folder: Path
    traces: Path

    def run(self, measurement: Measurement, rate: float, window_s: float) -> dict[str, Any]:
        """Replay `window_s` seconds of its workload, sped up or slowed down to `rate` requests a second.

        Returns:
            The summary.

        Raises:
            SimError: the trace has too few requests, or the policy is not known.
        """
        parts = self.parts.with_policy(measurement.policy) if measurement.policy else self.parts
        settings = replace(
            parts.settings,
            **self._window(measurement.workload, rate, window_s),
            pace="wall" if measurement.pace == "wall" else "virtual",
        )
        output = self.folder / "runs" / measurement.name
        bench = replace(self, parts=parts)
        return bench._replay(measurement.workload, settings, output, Interrupt(), lambda _, __: None)

    def simulated_s(self, workload: Workload, rate: float, window_s: float) -> float:
        """How long such a run takes on the clock, in seconds; nothing of it is kept."""
        settings = replace(self.parts.settings, **self._window(workload, rate, window_s), pace="virtual")
        with tempfile.TemporaryDirectory() as scratch:
            summary = self._replay(workload, settings, Path(scratch) / "run", Interrupt(), lambda _, __: None)
        return float(summary["duration"])

    def sustained_rate(self, workload: Workload) -> float:
        """Requests a second that are served while more wait than can run.

        All requests come at once; those that end in the second half of the time are counted.
        """
        settings = replace(
            self.parts.settings,
            start_s=workload.start_s,
            limit=_SATURATED_REQUESTS,
            rate_scale=_ALL_AT_ONCE,
            pace="virtual",
        )
        interrupt, seen = Interrupt(), [(0, 0.0)]

        def look(num_ended: int, clock_s: float) -> None:
            seen.append((num_ended, clock_s))
            interrupt.is_requested = clock_s >= workload.saturated_s

        with tempfile.TemporaryDirectory() as scratch:
            self._replay(workload, settings, Path(scratch) / "run", interrupt, look)
        return finish_rate(seen)

    def _window(self, workload: Workload, rate: float, window_s: float) -> dict[str, Any]:
        """Settings that make the first requests from `start_s` on last `window_s` seconds at `rate` a second."""
        settings = replace(self.parts.settings, start_s=workload.start_s)
        num_wanted = max(2, round(rate * window_s))
        trace = load_trace(workload.path(self.folder, self.traces), settings)
        arrivals_s = [request.arrival_s for request in trace.requests if request.arrival_s is not None]
        if len(arrivals_s) <= num_wanted:
            raise SimError(
                f"Workload {workload.name} has {len(arrivals_s)} requests from {workload.start_s} s on, but {rate:.4g} "
                f"a second for {window_s:g} s are {num_wanted}; give a shorter window."
            )
        end_s = arrivals_s[num_wanted]
        return {"start_s": workload.start_s, "end_s": workload.start_s + end_s, "rate_scale": end_s / window_s}

    def _replay(
        self, workload: Workload, settings: ReplaySettings, output: Path, interrupt: Interrupt, look: OnProgress
    ) -> dict[str, Any]:
        trace: Trace = load_trace(workload.path(self.folder, self.traces), settings)
        engine, block_size = self.parts.engine, self.parts.limits.block_size
        num_blocks = workload.num_blocks(engine.backend.num_blocks, block_size)
        parts = replace(
            self.parts,
            settings=settings,
            engine=replace(engine, backend=BorrowedBackend(engine.backend, num_blocks), step_clock=self.make_clock()),
            pace=WallPace() if settings.pace == "wall" else VirtualPace(),
        )
        gc.collect()
        return replay(fit_trace(trace, parts), {}, parts, output, interrupt, look)


def finish_rate(seen: list[tuple[int, float]]) -> float:
    """Requests ended a second, from the middle of the time on.

    Args:
        seen: (requests ended, clock in seconds), rising.
    """
    num_last, last_s = seen[-1]
    num_first, first_s = next(each for each in seen if each[1] >= _RAMP_UP * last_s)
    if num_last == num_first:
        return max(num_last, 1) / last_s
    return (num_last - num_first) / (last_s - first_s)
