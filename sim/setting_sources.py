"""Where settings come from: flags before a config file before the run that this one shall be like."""

import tomllib
from pathlib import Path
from typing import Any

from analysis.duration import parse_duration
from analysis.run import load
from sim.errors import SimError
from sim.replay_settings import ReplaySettings, check_names

# What describes the other run's trace and clock rather than its engine.
_NOT_TAKEN = ("pace", "warmup_s", "slo", "start_s", "end_s", "limit", "rate_scale", "trace_format", "trace_block_size")
_DURATIONS = {"warmup": "warmup_s", "start": "start_s", "end": "end_s"}


def resolve(flags: dict[str, Any], config: Path | None, like: Path | None) -> ReplaySettings:
    """Merge all sources.

    Args:
        flags: settings given on the command line.
        config: TOML file with the same keys, with dashes or underscores.
        like: run directory to take engine settings, KV blocks and graph sizes from.

    Raises:
        SimError: a file cannot be read, or a key or value cannot be.
        RunError: `like` is no run.
    """
    values = _of_run(like) if like else {}
    values |= _of_file(config) if config else {}
    return ReplaySettings.of(values | flags, "settings")


def seconds(value: str | float, name: str) -> float:
    """A number of seconds, or a duration such as "500ms" or "2min".

    Raises:
        SimError: it is neither.
    """
    try:
        return float(value)
    except ValueError:
        pass
    try:
        return parse_duration(str(value))
    except ValueError as error:
        raise SimError(f"{name}: {error}") from None


def _of_run(path: Path) -> dict[str, Any]:
    meta = load(path).meta
    known = {name: value for name, value in meta["settings"].items() if name not in _NOT_TAKEN}
    check_names(known, str(path / "meta.json"))
    sizes = meta.get("graph_sizes")
    return known | {"num_blocks": meta["num_kv_blocks"]} | ({"graph_sizes": sizes} if sizes is not None else {})


def _of_file(path: Path) -> dict[str, Any]:
    try:
        raw = tomllib.loads(path.read_text("utf-8-sig"))
    except OSError as error:
        raise SimError(f"{path}: {error.strerror or error}; name a TOML file with settings.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SimError(f"{path} is not TOML: {error}.") from error
    values = {key.replace("-", "_"): value for key, value in raw.items()}
    for name in set(values) & set(_DURATIONS):
        values[_DURATIONS[name]] = seconds(values.pop(name), f"{path}: {name}")
    check_names(values, str(path))
    # Types are checked here too, so that a message names the file.
    ReplaySettings.of(values, str(path))
    return values
