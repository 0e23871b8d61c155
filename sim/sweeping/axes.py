"""Settings with several values, as written on the command line: NAME=VALUE,VALUE."""

from collections.abc import Mapping, Sequence
from typing import Any, get_type_hints

from sim.errors import SimError
from sim.replay_settings import OF_BACKEND, ReplaySettings, check_names
from sim.setting_sources import is_duration, seconds, setting_name
from sim.setting_type import in_words

Axes = Mapping[str, tuple[Any, ...]]
"""Values by setting."""

_MAX_WHOLE = 2**63 - 1  # no column of the sweep's frame holds more; a seed that does not vary may be any number
_ELSEWHERE = {
    "policy": "give policies with --policies",
    "rate_scale": "give rates with --rates",
    "slo": "a sweep has one SLO, given with --slo; another one can be given to the same folder",
    "pace": "a sweep runs at virtual pace",
    "backend": "a sweep runs on cost models",
    "graph_sizes": "a list has no place here",
    "mixed_graph_sizes": "a list has no place here",
    **dict.fromkeys(OF_BACKEND["gpu"], "it is a setting of backend gpu, and a sweep runs on cost models"),
}


def parse_axes(texts: Sequence[str]) -> Axes:
    """Read what shall vary.

    Args:
        texts: one a setting, such as "max_num_seqs=64,128"; dashes are as good as underscores.

    Raises:
        SimError: a text is no such thing, a setting is unknown, cannot vary or comes twice, or a value is not of its
            type or comes twice.
    """
    axes: dict[str, tuple[Any, ...]] = {}
    for text in texts:
        key, equals, values = text.partition("=")
        if not equals:
            raise SimError(f"--set {text!r} is not NAME=VALUE,VALUE, such as max_num_seqs=64,128.")
        name = setting_name(key.strip())
        check_names({name: None}, f"--set {text}")
        if name in _ELSEWHERE:
            raise SimError(f"--set {text}: {name} cannot vary here; {_ELSEWHERE[name]}.")
        if name in axes:
            raise SimError(f"--set gives {name} twice; give all its values in one, with commas.")
        read = _seconds if is_duration(key.strip()) else _value
        axes[name] = tuple(read(name, value.strip(), text) for value in values.split(","))
        _check_once(name, axes[name])
    return axes


def _seconds(name: str, value: str, text: str) -> float:
    return seconds(value, f"--set {text}: {name}")


def _value(name: str, value: str, text: str) -> Any:  # noqa: ANN401  # settings are of several types
    import msgspec

    try:
        converted = msgspec.convert(value, get_type_hints(ReplaySettings)[name], strict=False)
    except msgspec.ValidationError:
        converted = None
    if converted is None or value == "":
        raise SimError(f"--set {text}: {name} is {value!r}; it must be {in_words(ReplaySettings, name)}.")
    if isinstance(converted, int) and converted > _MAX_WHOLE:
        raise SimError(f"--set {text}: {name} is {value}; values that vary must be at most {_MAX_WHOLE}.")
    return converted


def _check_once(name: str, values: tuple[Any, ...]) -> None:
    for value in values:
        if values.count(value) > 1:
            raise SimError(f"--set gives {name} the value {value} twice; leave one of them.")
