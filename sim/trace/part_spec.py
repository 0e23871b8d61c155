"""Parts of a made trace as they are written on the command line: NAME:KEY=VALUE,KEY=VALUE."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from sim.errors import SimError
from sim.setting_sources import seconds
from traces.errors import TraceError

Part = TypeVar("Part")


def parse_part(flag: str, text: str, kinds: Mapping[str, Callable[..., Part]], **given: Any) -> Part:  # noqa: ANN401
    """Return a part.

    Args:
        flag: option that it was given with, for errors.
        text: such as "gamma:cv=3". A kind with one key may be given its value alone: "constant:512".
        kinds: by name, what makes a part. Keys are the names of its parameters, of which one that ends in `_s` takes a
            duration such as 10s and is written without that end.
        given: arguments that are not for the user to give.

    Raises:
        SimError: there is no such kind or key, a value is no number or not in its range, or one is missing.
    """
    name, _, rest = text.partition(":")
    if name not in kinds:
        raise SimError(f"{flag} is {text!r}; it must begin with one of {', '.join(kinds)}.")
    parameters = [each for each in inspect.signature(kinds[name]).parameters.values() if each.name not in given]
    keys = {each.name.removesuffix("_s").replace("_", "-"): each for each in parameters}
    values = _values(flag, text, rest, list(keys))
    right = f"write {flag} {_pattern(name, keys)}"
    unknown = [key for key in values if key not in keys]
    missing = [key for key, each in keys.items() if each.default is inspect.Parameter.empty and key not in values]
    if unknown:
        raise SimError(f"{flag} is {text!r}, but {name} has no {unknown[0]!r}; {right}.")
    if missing:
        raise SimError(f"{flag} is {text!r}, but {name} needs {missing[0]}; {right}.")
    numbers = {keys[key].name: _number(f"{flag}: {key}", keys[key], value) for key, value in values.items()}
    try:
        return kinds[name](**given, **numbers)
    except TraceError as error:
        raise SimError(f"{flag} is {text!r}: {error}.") from error


def _values(flag: str, text: str, rest: str, keys: list[str]) -> dict[str, str]:
    values: dict[str, str] = {}
    for item in filter(None, rest.split(",")):
        key, equals, value = item.partition("=")
        if not equals and len(keys) == 1:
            key, value = keys[0], item
        if key in values:
            raise SimError(f"{flag} is {text!r}, which gives {key} twice; leave one of them.")
        values[key.strip()] = value
    return values


def _pattern(name: str, keys: Mapping[str, inspect.Parameter]) -> str:
    """How a kind is written, optional keys in brackets."""
    if not keys:
        return name
    parts = []
    for key, each in keys.items():
        part = f"{key}={'10s' if each.name.endswith('_s') else 'N'}"
        parts.append(part if each.default is inspect.Parameter.empty else f"[{part}]")
    return f"{name}:{','.join(parts)}"


def _number(what: str, parameter: inspect.Parameter, text: str) -> float | int:
    if parameter.name.endswith("_s"):
        return seconds(text, what)
    try:
        return int(text) if parameter.annotation is int else float(text)
    except ValueError:
        kind = "a whole number" if parameter.annotation is int else "a number"
        raise SimError(f"{what} is {text!r}; it must be {kind}.") from None
