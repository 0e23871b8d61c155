"""One sentence that says what a run is a run of."""

from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any

Meta = Mapping[str, Any]


def heading(meta: Meta) -> str:
    """Describes engine, limits and trace.

    Args:
        meta: the content of `meta.json`; what is missing, as in a run of another engine, is left out.

    Returns:
        Such as "Qwen3-8B on 1 x H200 (roofline, uncalibrated), policy vllm 0.33, at most 256 sequences and 8192 tokens
        a step, trace busy.jsonl x 2".
    """
    parts = (_engine(meta), _policy(meta["settings"]), _limits(meta["settings"]), _trace(meta))
    return ", ".join(filter(None, parts))


def _engine(meta: Meta) -> str:
    hardware = meta.get("hardware") or {}
    model = str(hardware.get("model") or meta["settings"].get("model") or "")
    kind = (meta.get("cost_model") or {}).get("kind")
    gpu = hardware.get("gpu")
    # Recorded times are those of another machine, whatever the sheet of this run is called.
    on = f"on {hardware.get('num_gpus', 1)} x {gpu}" if gpu and kind != "recorded" else ""
    return " ".join(filter(None, (PurePath(model).name, on, _STEP_TIMES.get(kind or "", kind))))


# A simulation must not pass for a measurement.
_STEP_TIMES = {"roofline": "(roofline, uncalibrated)", "recorded": "(recorded step times)", "fitted": "(fitted)"}


def _policy(settings: Meta) -> str:
    policy = str(settings.get("policy") or "")
    # Of a policy in a file, the class says enough.
    words = [policy.rpartition(":")[2], settings.get("vllm_version") if policy == "vllm" else None]
    return f"policy {' '.join(filter(None, words))}" if policy else ""


def _limits(settings: Meta) -> str:
    names = (("max_num_seqs", "sequences"), ("max_num_batched_tokens", "tokens"))
    known = [f"{settings[name]} {unit}" for name, unit in names if settings.get(name)]
    return f"at most {' and '.join(known)} a step" if known else ""


def _trace(meta: Meta) -> str:
    settings, name = meta["settings"], meta["trace"].get("name")
    if not name:
        return ""
    return "".join([f"trace {PurePath(name).name}", *_window(settings), *_scale(settings)])


def _window(settings: Meta) -> Iterator[str]:
    if settings.get("start_s") is not None:
        yield f" from {settings['start_s']:g} s"
    if settings.get("end_s") is not None:
        yield f" up to {settings['end_s']:g} s"
    if settings.get("limit") is not None:
        yield f", {settings['limit']} requests at most"


def _scale(settings: Meta) -> Iterator[str]:
    if settings.get("rate_scale", 1) != 1:
        yield f" x {settings['rate_scale']:g}"
