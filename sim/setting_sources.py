"""Where settings come from: flags before a config file before the run that this one shall be like."""

import tomllib
from pathlib import Path
from typing import Any

from analysis.duration import parse_duration
from analysis.errors import SloError
from analysis.run import load
from sim.client_record import refuse_client_record
from sim.errors import SimError
from sim.replay_settings import OF_BACKEND, POLICY_SETTINGS, ReplaySettings

# What describes the other run's trace and clock rather than its engine.
_NOT_TAKEN = (
    *("pace", "warmup_s", "slo", "start_s", "end_s", "limit", "rate_scale", "trace_format", "trace_block_size"),
    *("time_unit", "delay_rule", "api_time_scale", "max_delay_s", "request_rate", "tokenizer", "columns"),
)
# What a server's step times and decisions depend on most.
_FLAGS_INSTEAD = (
    "leave --like out, and give what it was started with as --model, --gpu, --tp, --max-num-seqs, "
    "--max-num-batched-tokens, --max-model-len, --block-size, and --memory-utilization or --num-blocks"
)
# Settings that a flag has another name for.
_DURATIONS = {"warmup": "warmup_s", "start": "start_s", "end": "end_s", "max_delay": "max_delay_s"}
_BY_FLAG = _DURATIONS | {"format": "trace_format"}


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
    given = (_of_file(config) if config else {}) | flags
    inherited = _of_run(like) if like else {}
    if given.get("policy", inherited.get("policy")) != inherited.get("policy"):
        # What was set for another policy has no meaning for this one.
        inherited = {name: value for name, value in inherited.items() if name not in POLICY_SETTINGS}
    if given.get("backend", inherited.get("backend")) != inherited.get("backend"):
        only = {name for names in OF_BACKEND.values() for name in names}
        inherited = {name: value for name, value in inherited.items() if name not in only}
    settings = ReplaySettings.of(inherited | given, "settings")
    settings.check_backend()
    return settings


def setting_name(key: str) -> str:
    """The name of a setting that is written like it or like its flag."""
    flag = key.replace("-", "_")
    return _BY_FLAG.get(flag, flag)


def is_duration(key: str) -> bool:
    """Whether a setting is written like its flag, which takes a duration, and not by its name, which ends in _s."""
    return key.replace("-", "_") in _DURATIONS


def seconds(value: object, name: str) -> float:
    """Seconds of a duration such as "500ms" or "2min"; a number without a unit is none, as in limits of latencies.

    Raises:
        SimError: it is no duration.
    """
    try:
        if isinstance(value, str):
            return parse_duration(value)
    except SloError:
        pass
    raise SimError(f"{name} is {value!r}; it must be a number with a unit (us, ms, s, min, h), such as 500ms or 2min.")


def _of_run(path: Path) -> dict[str, Any]:
    run = load(path)
    refuse_client_record(run, "the server's settings", _FLAGS_INSTEAD)
    meta = run.meta
    values = {name: value for name, value in meta["settings"].items() if name not in _NOT_TAKEN}
    values["num_blocks"] = meta["num_kv_blocks"]
    if meta.get("graph_sizes") is not None:
        values["graph_sizes"] = meta["graph_sizes"]
        # A run that says nothing of steps with prompts has run them eager.
        values["mixed_graph_sizes"] = meta.get("mixed_graph_sizes", [])
    # Checked here too, so that a message names the file.
    ReplaySettings.of(values, str(path / "meta.json"))
    return values


def _of_file(path: Path) -> dict[str, Any]:
    try:
        raw = tomllib.loads(path.read_text("utf-8-sig"))
    except OSError as error:
        raise SimError(f"{path}: {error.strerror or error}; name a TOML file with settings.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise SimError(f"{path} is not TOML: {error}.") from error
    values = _named(raw, path)
    # Types are checked here too, so that a message names the file.
    ReplaySettings.of(values, str(path))
    return values


def _named(raw: dict[str, Any], path: Path) -> dict[str, Any]:
    """Values by the names of settings, from keys that are written like those or like flags."""
    values: dict[str, Any] = {}
    for key, value in raw.items():
        name = setting_name(key)
        if name in values:
            raise SimError(f"{path} gives {name} twice, the second time as {key}; leave one of them.")
        values[name] = seconds(value, f"{path}: {key}") if is_duration(key) else value
    return values
