"""The content of `meta.json`, checked."""

import math
from pathlib import Path
from typing import Any

from analysis.errors import RunError
from analysis.json_file import read_json
from analysis.observation import Observation
from analysis.schema import FORMAT, FORMAT_VERSION, REQUIRED_META

MAX_COUNT = 2**62
"""Larger numbers of anything do not fit where they are reckoned with."""


def read_meta(path: Path) -> dict[str, Any]:
    """Reads `meta.json` of the run directory `path` and checks what this package looks at.

    Raises:
        RunError: it is no run directory, its format is unknown, or a value is missing or cannot be.
    """
    check_name(path)
    file = path / "meta.json"
    try:
        exists, has_meta = path.exists(), file.is_file()
    except OSError as error:
        raise RunError(f"{path} cannot be read: {error.strerror or error}.") from error
    if not exists:
        raise RunError(f"{path} does not exist; name the directory of a run.")
    if not has_meta:
        raise RunError(f"{path} is not a run directory: it holds no meta.json.")
    meta = read_json(file)
    _check_format(meta, file)
    _check_required(meta, file, may_lack_blocks=Observation.of(meta).by_client)
    _check_optional(meta, file)
    return meta


def _check_required(meta: dict[str, Any], file: Path, *, may_lack_blocks: bool) -> None:
    for key, type_ in REQUIRED_META.items():
        if key not in meta:
            raise RunError(f"{file} lacks {key!r}.")
        if may_lack_blocks and key == "num_kv_blocks" and meta[key] is None:
            continue
        if type(meta[key]) is not type_:
            raise RunError(f"{file}: {key!r} is {meta[key]!r}, but it must be of JSON type {_json_type(type_)}.")
    if meta["num_kv_blocks"] is not None and not 1 <= meta["num_kv_blocks"] <= MAX_COUNT:
        raise RunError(f"{file}: 'num_kv_blocks' is {meta['num_kv_blocks']}; it must be from 1 to {MAX_COUNT}.")


def _check_optional(meta: dict[str, Any], file: Path) -> None:
    """Check values that need not be there, but are looked at where they are."""
    slo, warmup_s = meta.get("slo"), meta.get("warmup_s")
    num_requests = meta["trace"].get("num_requests", 0)
    if not (slo is None or isinstance(slo, dict)):
        raise RunError(f"{file}: 'slo' is {slo!r}, but it must be an object of limits in seconds, or null.")
    if not (warmup_s is None or (_is_number(warmup_s) and 0 <= warmup_s < math.inf)):
        raise RunError(f"{file}: 'warmup_s' is {warmup_s!r}, but it must be a number of seconds from 0, or null.")
    if type(num_requests) is not int or not 0 <= num_requests <= MAX_COUNT:
        raise RunError(f"{file}: 'num_requests' of the trace is {num_requests!r}; it must be from 0 to {MAX_COUNT}.")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def check_name(path: Path) -> None:
    """Raise RunError if `path` is not UTF-8: Arrow opens no such file."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise RunError(f"The name {str(path)!r} is not UTF-8; give the run directory another one.") from None


def _check_format(meta: dict[str, Any], file: Path) -> None:
    if meta.get("format") != FORMAT:
        raise RunError(f"{file}: 'format' is {meta.get('format')!r}, but a run has {FORMAT!r}.")
    if meta.get("format_version") != FORMAT_VERSION:
        version = meta.get("format_version")
        raise RunError(
            f"{file}: 'format_version' is {version!r}; this release reads version {FORMAT_VERSION} only. Replay the "
            "run's trace again, or read it with the release that wrote it."
        )


def _json_type(type_: type) -> str:
    return {bool: "boolean", int: "integer", dict: "object"}[type_]
