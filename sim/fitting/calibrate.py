"""From measured steps to a calibration."""

from collections.abc import Sequence
from statistics import fmean

import numpy as np

from backends.errors import SheetError
from backends.simulated import ModelSheet, load_model_sheet
from backends.simulated.calibration import CalibratedSettings, Calibration, Fact, Source
from backends.simulated.envelope import Envelope
from backends.simulated.gpu_sheet import gpu_sheet_of
from sim.errors import SimError
from sim.fitting.fit import class_errors, fit
from sim.fitting.measured import Measured
from sim.fitting.samples import Samples

_MAX_RUN_STEPS, _STRETCH = 2000, 10
_DTYPES = {2: "bfloat16", 4: "float32"}


def calibrate(measured: Sequence[Measured]) -> Calibration:
    """Fit a cost model.

    The errors are those of a fit to what is not held out, on what is; the numbers are then fitted to everything. Of
    runs that is at most 2,000 steps each.

    Raises:
        SimError: the data come from engines that differ, or do not say from what engine.
        SheetError: the model is not known here.
    """
    settings = _common_settings(measured)
    samples = Samples.joined([_thinned(each, each.at_reference) for each in measured])
    held_out = samples.where(samples.is_held_out)
    used = samples.where(~samples.is_held_out)
    has_test = len(held_out) > 0 and len(used) > 0
    return Calibration(
        settings=settings,
        hardware=_facts(measured[0].meta.get("hardware", {})) | _host_speed(measured),
        versions={name: str(value) for name, value in measured[0].meta.get("versions", {}).items()},
        sources=tuple([_source(each) for each in measured]),
        errors=class_errors(fit(used), held_out) if has_test else {},
        envelope=Envelope.around(samples.steps),
        times=fit(samples),
    )


def _host_speed(measured: Sequence[Measured]) -> dict[str, Fact]:
    """How quick the hosts were on average; if not all data say it, host times are those of no certain speed.

    Raises:
        SimError: some say it and some do not.
    """
    probes_us = [each.host_probe_us for each in measured]
    known_us = [probe_us for probe_us in probes_us if probe_us is not None]
    if not known_us:
        return {}
    if len(known_us) < len(probes_us):
        silent = measured[probes_us.index(None)].name
        raise SimError(
            f"{silent} does not say how quick its host was (host_probe_us), but other data do; calibrate data of one "
            "release together."
        )
    return {"host_probe_us": round(fmean(known_us), 3)}


def _thinned(measured: Measured, samples: Samples) -> Samples:
    """Of a long run some stretches, evenly spread, so that no trace outweighs all others."""
    num_steps = len(samples)
    if measured.kind != "run" or num_steps <= _MAX_RUN_STEPS:
        return samples
    stretch = np.arange(num_steps) // _STRETCH
    share = _MAX_RUN_STEPS / num_steps
    return samples.where(np.floor((stretch + 1) * share) > np.floor(stretch * share))


def _common_settings(measured: Sequence[Measured]) -> CalibratedSettings:
    settings = [_settings(each) for each in measured]
    for each, other in zip(measured[1:], settings[1:], strict=True):
        for name in CalibratedSettings.__slots__:
            first, second = getattr(settings[0], name), getattr(other, name)
            if first != second:
                raise SimError(
                    f"{measured[0].name} was measured with {name} {first}, but {each.name} with {second}; calibrate "
                    "engines of one kind together, others apart."
                )
    return settings[0]


def _settings(measured: Measured) -> CalibratedSettings:
    given, hardware = measured.meta["settings"], measured.meta.get("hardware", {})
    sheet = _sheet(_text(measured, "model"), measured.name)
    name = str(hardware.get("gpu", "unknown"))
    gpu = gpu_sheet_of(name)
    return CalibratedSettings(
        model=sheet.name,
        gpu=gpu.name if gpu else name,
        tp=_count(measured, "tp"),
        block_size=_count(measured, "block_size"),
        dtype=given.get("dtype") or _DTYPES.get(sheet.dtype_bytes, f"{sheet.dtype_bytes} bytes"),
        attention=measured.attention,
        max_model_len=_count(measured, "max_model_len"),
    )


def _count(measured: Measured, name: str) -> int:
    value = measured.meta["settings"].get(name)
    if type(value) is not int or value < 1:
        raise SimError(f"{measured.name} has {value!r} as {name} in its settings; it must be a whole number from 1.")
    return value


def _text(measured: Measured, name: str) -> str:
    value = measured.meta["settings"].get(name)
    if not isinstance(value, str):
        raise SimError(f"{measured.name} has {value!r} as {name} in its settings; it must be text.")
    return value


def _sheet(model: str, source: str) -> ModelSheet:
    try:
        return load_model_sheet(model)
    except SheetError as error:
        raise SheetError(f"{source} was measured with a model that is not known here: {error}") from None


def _facts(hardware: dict[str, object]) -> dict[str, Fact]:
    return {name: value if isinstance(value, str | int | float) else str(value) for name, value in hardware.items()}


def _source(measured: Measured) -> Source:
    used = _thinned(measured, measured.samples)
    seconds = round(float(used.times.duration_s.sum()), 3)
    return Source(name=measured.name, kind=measured.kind, num_steps=len(used), seconds=seconds)
