"""The options that say how a trace file is read, for the commands that read one."""

import inspect
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from sim.replay_command import replay
from sim.replay_options import with_replay_options

if TYPE_CHECKING:
    from traces import ReadSettings

READ_OPTIONS = (
    *("trace_format", "trace_block_size", "time_unit", "tokenizer", "start", "end", "limit"),
    *("request_rate", "delay_rule", "api_time_scale", "max_delay", "columns"),
)
_DURATIONS = ("start", "end", "max_delay")


def with_read_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command that ends with `**options` those options of `replay`."""
    return with_replay_options(command, left_out=set(inspect.signature(replay).parameters) - set(READ_OPTIONS))


def read_settings(options: Mapping[str, Any], seed: int) -> "tuple[ReadSettings, str]":
    """Settings and format from the options' values.

    Raises:
        SimError: a duration is none.
        TraceError: a setting is not what it must be.
    """
    from sim.setting_sources import seconds
    from traces import ReadSettings, Window

    times_s = {name: None if options[name] is None else seconds(options[name], name) for name in _DURATIONS}
    settings = ReadSettings(
        trace_block_size=options["trace_block_size"],
        time_unit=options["time_unit"],
        delay_rule=options["delay_rule"],
        api_time_scale=options["api_time_scale"],
        max_delay_s=times_s["max_delay"],
        request_rate=options["request_rate"],
        seed=seed,
        tokenizer=options["tokenizer"],
        columns=options["columns"],
        window=Window(times_s["start"], times_s["end"], options["limit"]),
    )
    return settings, options["trace_format"] or "auto"
