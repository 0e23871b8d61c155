"""One run on a GPU beside its simulation."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.run import load
from backends.simulated.calibration_file import load_calibration
from benchmarks.fidelity.measurement import workload_and_share
from benchmarks.fidelity.metric_error import METRICS, MetricError
from benchmarks.fidelity.simulate import simulate
from benchmarks.fidelity.step_bias import StepBias, step_bias

_REPEAT = "-repeat2"


@dataclass(frozen=True, slots=True)
class Agreement:
    """All that is said of one run. Made by `agreement`.

    Attributes:
        name: of the run directory.
        share: percent of the sustained rate.
        num_steps: of the run.
        decisions: "identical" on the run's own step times, or what `sim verify` says instead.
        errors: of metrics, nothing known of the run.
        host_probe_us: how quick the run's host was; None if it does not say.
        host_known: errors of metrics when the simulation is told that; as `errors` if nothing is known.
        bias: of step times, the host's speed known.
        outside_share: of the simulation's steps that the calibration does not cover.
        num_preemptions: in the run, and in the simulation.
    """

    name: str
    share: int
    num_steps: int
    decisions: str
    errors: tuple[MetricError, ...]
    host_probe_us: float | None
    host_known: tuple[MetricError, ...]
    bias: StepBias
    outside_share: float
    num_preemptions: tuple[int, int]

    @property
    def missed(self) -> tuple[str, ...]:
        """Titles of metrics whose targets are missed."""
        return self._missed(self.errors)

    @property
    def missed_host_known(self) -> tuple[str, ...]:
        """Likewise, with the host's speed known."""
        return self._missed(self.host_known)

    def _missed(self, errors: tuple[MetricError, ...]) -> tuple[str, ...]:
        return tuple([error.metric.title for error in errors if error.is_met(self.share) is False])


def agreement(run: Path, cost: Path, output: Path) -> Agreement:
    """Verify, simulate and compare.

    Args:
        run: directory of a finished run, named as `Measurement` does.
        cost: calibration that has not seen it.
        output: where the simulation's run directory goes.

    Raises:
        RunError: the run is damaged.
        SimError: it cannot be simulated.
    """
    real = _summary(run)
    simulated, probe_us = simulate(run, cost, output), real.get("host_probe_us")
    told = output.with_name(f"{output.name}-host-known")
    host_known = simulated if probe_us is None else simulate(run, cost, told, probe_us)
    repeat = _other(run)
    return Agreement(
        name=run.name,
        share=workload_and_share(run.name)[1],
        num_steps=real["num_steps"],
        decisions=_verified(run),
        errors=tuple([MetricError.of(metric, real, simulated, repeat) for metric in METRICS]),
        host_probe_us=probe_us,
        host_known=tuple([MetricError.of(metric, real, host_known, repeat) for metric in METRICS]),
        bias=step_bias(load_calibration(cost), run),
        outside_share=simulated["cost_model"]["outside_share"],
        num_preemptions=(real["num_preemptions"], simulated["num_preemptions"]),
    )


def _summary(run: Path) -> dict[str, Any]:
    return load(run).summary or {}


def _other(run: Path) -> dict[str, Any] | None:
    """Summary of the other real run of the same trace and rate, if there is one."""
    first = run.with_name(run.name.removesuffix(_REPEAT))
    other = run.with_name(run.name + _REPEAT) if first == run else first
    return _summary(other) if (other / "summary.json").exists() else None


def _verified(run: Path) -> str:
    command = [sys.executable, "-m", "sim", "verify", str(run)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return "identical"
    said = [line for line in (done.stdout if done.returncode == 1 else done.stderr).splitlines() if line.strip()]
    return ("differ: " if done.returncode == 1 else "not verified: ") + (said[0].strip() if said else "no reason given")
