"""Refuses measurements that cannot be, before a cost model is fitted to them."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from backends.cost_model import FloatColumn, StepColumns
from sim.errors import SimError

_TABLES: Mapping[str, object] = {"settings": None, "hardware": {}, "versions": {}}
"""With what counts if one is missing."""
_TEXTS = ("dtype", "attention")


def check_meta(meta: Mapping[str, Any], path: Path) -> None:
    """Look at what a calibration takes from the metadata of a profile or run.

    Raises:
        SimError: a value is of the wrong kind.
    """
    for name, usual in _TABLES.items():
        if not isinstance(meta.get(name, usual), dict):
            raise SimError(f"{path}: {name} is {meta.get(name)!r}; it must be a JSON object.")
    for name in _TEXTS:
        if not isinstance(meta["settings"].get(name), str | None):
            raise SimError(f"{path}: {name} in settings is {meta['settings'][name]!r}; it must be text, or null.")
    notices = meta.get("notices")
    if notices is not None and not (isinstance(notices, list) and all(isinstance(each, str) for each in notices)):
        raise SimError(f"{path}: notices is {notices!r}; it must be a list of sentences.")


def checked_probe_us(value: object, path: Path) -> float | None:
    """How quick the host was, as a file has it; None if it does not say.

    Raises:
        SimError: no host is as quick as that.
    """
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= sys.float_info.max:
        raise SimError(f"{path}: host_probe_us is {value!r}; it must be a time in microseconds, above 0.")
    return float(value)


def checked_families(meta: Mapping[str, Any], load_numbers: FloatColumn, path: Path) -> list[str]:
    """The family of each load of a profile.

    Raises:
        SimError: the metadata do not say it, or a step names a load that is not there.
    """
    loads = meta.get("loads")
    if not isinstance(loads, list) or not all(isinstance(load, dict) and "family" in load for load in loads):
        raise SimError(f"{path} does not say of what family its loads are; take the profile again.")
    outside = (load_numbers < 0) | (load_numbers >= len(loads))
    if outside.any():
        raise SimError(f"{path} has a step of load {load_numbers[outside][0]:g}, but {len(loads)} loads.")
    return [load["family"] for load in loads]


def check_steps(columns: Mapping[str, FloatColumn], path: Path) -> None:
    """Look at shapes and times of steps.

    Raises:
        SimError: a number is negative, a step takes no time, or the device is busy for longer than the step lasts.
    """
    for name in StepColumns._fields:
        if (columns[name] < 0).any():
            raise SimError(f"{path}: {name} of a step is {np.nanmin(columns[name]):g}; it must not be negative.")
    duration_s, device_s = columns["duration_s"], columns["device_s"]
    wrong = np.flatnonzero(~((device_s >= 0) & (device_s <= duration_s) & (duration_s > 0)))
    if len(wrong):
        row = wrong[0]
        raise SimError(
            f"{path}: a step has a duration of {duration_s[row]:g} s and a device time of {device_s[row]:g} s; a step "
            "takes time, and the device is busy for some part of it."
        )
