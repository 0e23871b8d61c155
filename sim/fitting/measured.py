"""Profiles and run directories as samples."""

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.run import load
from backends.cost_model import FloatColumn, StepColumns, StepTimes
from backends.simulated.fitted_times import host_factor
from sim.client_record import refuse_client_record
from sim.errors import SimError
from sim.fitting.measured_check import check_meta, check_steps, checked_families, checked_probe_us
from sim.fitting.samples import Flags, Samples
from sim.host_speed import REFERENCE_PROBE_US
from sim.profiling.profile_file import is_profile, read_profile

_HELD_OUT_FAMILY = "traffic"
"""Of a profile, every second load of this kind is held out; only the others show steps of unlike contexts."""
_STRETCH, _EVERY = 50, 5
"""Of a run, every fifth stretch of so many steps is held out."""
_ATTENTION = re.compile(r"^Attention ([^\s,]+)")


@dataclass(frozen=True, slots=True)
class Measured:
    """What one file or directory holds.

    Attributes:
        name: of it.
        kind: "profile" or "run".
        meta: metadata; profiles and runs have `settings`, `hardware`, `versions` and `notices`.
        samples: the steps.
        host_probe_us: how quick the host was, see `sim.host_speed`; None if nothing says.
    """

    name: str
    kind: str
    meta: dict[str, Any]
    samples: Samples
    host_probe_us: float | None = None

    @property
    def at_reference(self) -> Samples:
        """The steps as on a host of the reference speed; as they are if nothing says how quick this one was."""
        if self.host_probe_us is None:
            return self.samples
        slowness = self.host_probe_us / REFERENCE_PROBE_US
        return replace(self.samples.with_host(1 / host_factor(slowness)), slowness=np.full(len(self.samples), slowness))

    @property
    def attention(self) -> str:
        """Name of the attention kernels; "unknown" if nothing says."""
        named = [_ATTENTION.match(notice) for notice in self.meta.get("notices") or ()]
        found = next((match.group(1) for match in named if match), None)
        return found or self.meta["settings"].get("attention") or "unknown"


def read_measured(path: Path) -> Measured:
    """Read a profile, or the steps of a run.

    Raises:
        SimError: it is neither, its step times were not measured, or they cannot be.
        RunError: a table of it is damaged.
    """
    if not path.exists():
        raise SimError(f"{path} does not exist; name a file of `sim profile` or the directory of a run.")
    measured = _of_profile(path) if is_profile(path) else _of_run(path)
    backend = measured.meta["settings"].get("backend")
    if measured.meta.get("hardware", {}).get("kind") == "simulated" or backend == "sim":
        raise SimError(f"{path} comes from a simulation, but a cost model is fitted to what was measured on a GPU.")
    if not len(measured.samples):
        raise SimError(f"{path} holds no step to fit to.")
    return measured


def _of_profile(path: Path) -> Measured:
    profile = read_profile(path)
    columns = profile.columns
    check_meta(profile.meta, path)
    check_steps(columns, path)
    families = checked_families(profile.meta, columns["load"], path)
    load_numbers = columns["load"].astype(np.int64)
    is_traffic = np.array([family == _HELD_OUT_FAMILY for family in families], dtype=np.bool_)
    is_held_out = is_traffic & (np.cumsum(is_traffic) % 2 == 1)
    follows = np.zeros(len(load_numbers), dtype=np.bool_)
    follows[1:] = load_numbers[1:] == load_numbers[:-1]
    samples = _samples(columns, follows, is_held_out[load_numbers], is_served=False)
    samples = samples.where(columns["is_warm_up"] == 0)
    probe_us = checked_probe_us(profile.meta.get("host_probe_us"), path)
    return Measured(path.name, "profile", profile.meta, samples, probe_us)


def _of_run(path: Path) -> Measured:
    run = load(path)
    refuse_client_record(run, "steps", "fit to a file of `sim profile`, or to a run of `sim replay --backend gpu`")
    check_meta(run.meta, path)
    table = run.table("steps")
    names = ("start_s", *StepColumns._fields, *StepTimes._fields)
    columns = {name: np.array(table.column(name).to_pylist(), dtype=np.float64) for name in names}
    is_filled = columns["num_prefill_seqs"] + columns["num_decode_seqs"] > 0
    columns = {name: column[is_filled] for name, column in columns.items()}
    check_steps(columns, path)
    ends_s = columns["start_s"] + columns["duration_s"]
    follows = np.zeros(len(ends_s), dtype=np.bool_)
    # After an idle wait the clock was restarted: what the host did after the step before was not counted.
    follows[1:] = columns["start_s"][1:] == ends_s[:-1]
    is_held_out = np.arange(len(ends_s)) // _STRETCH % _EVERY == _EVERY - 1
    samples = _samples(columns, follows, is_held_out, is_served=True)
    probe_us = checked_probe_us((run.summary or {}).get("host_probe_us"), path / "summary.json")
    return Measured(path.resolve().name, "run", run.meta, samples, probe_us)


def _samples(
    columns: dict[str, NDArray[np.float64]], follows: Flags, is_held_out: Flags, *, is_served: bool
) -> Samples:
    steps = StepColumns.from_table(columns)
    before: StepColumns[FloatColumn] = StepColumns(*(np.roll(column, 1) * follows for column in steps))
    times = StepTimes(*(columns[name] for name in StepTimes._fields))
    served, slowness = np.full(len(follows), is_served), np.ones(len(follows))
    return Samples(steps, before, follows, times, times.duration_s, is_held_out, served, slowness)
