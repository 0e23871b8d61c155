"""Calibrations as TOML files."""

import math
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from importlib import resources
from itertools import pairwise
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

from backends.errors import SheetError
from backends.simulated.calibration import CalibratedSettings, Calibration, ClassError, Fact, Source
from backends.simulated.envelope import Envelope, columns_of
from backends.simulated.fitted_times import FittedTimes
from backends.simulated.step_class import STEP_CLASSES

FORMAT = "twinserve-calibration"
FORMAT_VERSION = 4
_HEAD = """\
# Step times of {model} on {gpu}, fitted to measured ones by `python -m sim calibrate`.
# Times are in microseconds; backends/simulated/fitted_times.py says what each number means.
"""


def load_calibration(path: Path) -> Calibration:
    """Read a file.

    Raises:
        SheetError: it cannot be read, or a key or value cannot be.
    """
    try:
        return _calibration(path.read_text("utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise SheetError(f"Cannot read the calibration {path}: {reason}.") from None


def shipped_calibrations() -> Iterator[tuple[str, Calibration]]:
    """Those of this package, with their names."""
    folder = resources.files("backends.simulated").joinpath("calibrations")
    if folder.is_dir():
        for file in sorted(folder.iterdir(), key=lambda each: each.name):
            if file.name.endswith(".toml"):
                yield file.name.removesuffix(".toml"), _calibration(file.read_text("utf-8"), file.name)


def dump_calibration(calibration: Calibration) -> str:
    """The text of a file."""
    settings = calibration.settings
    lines = [_HEAD.format(model=settings.model, gpu=settings.gpu)]
    lines += [f'format = "{FORMAT}"', f"format_version = {FORMAT_VERSION}"]
    for name in ("settings", "hardware", "versions"):
        lines += _lines(name, getattr(calibration, name))
    for source in calibration.sources:
        lines += ["", "[[sources]]", *_pairs(_items(source))]
    lines += _lines("errors", calibration.errors)
    lines += _lines("envelope", calibration.envelope.ranges)
    lines += _lines("times", calibration.times)
    return "\n".join(lines) + "\n"


def _items(table: object) -> dict[str, Any]:
    if isinstance(table, Mapping):
        return dict(table)
    assert is_dataclass(table), "tables are mappings or dataclasses"
    return {field.name: getattr(table, field.name) for field in fields(table)}


def _lines(name: str, table: object) -> Iterator[str]:
    items = _items(table)
    tables = {key: value for key, value in items.items() if isinstance(value, Mapping) or is_dataclass(value)}
    values = {key: value for key, value in items.items() if key not in tables}
    if values or not tables:
        yield ""
        yield f"[{name}]"
    yield from _pairs(values)
    for key, value in tables.items():
        yield from _lines(f"{name}.{_key(key)}", value)


def _pairs(values: Mapping[str, Any]) -> Iterator[str]:
    for key, value in values.items():
        if isinstance(value, tuple) and value and isinstance(value[0], tuple):
            yield f"{_key(key)} = ["
            yield from [f"    {_value(row)}," for row in value]
            yield "]"
        else:
            yield f"{_key(key)} = {_value(value)}"


def _key(key: str) -> str:
    return key if key.replace("_", "").replace("-", "").isalnum() and key.isascii() else _text(key)


def _value(value: Any) -> str:  # noqa: ANN401  # whatever TOML can hold
    if isinstance(value, tuple):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 2**53 else f"{value:.6g}"
    return _text(value) if isinstance(value, str) else str(value)


def _text(text: str) -> str:
    escaped = "".join(f"\\u{ord(char):04x}" if char in '"\\' or not char.isprintable() else char for char in text)
    return f'"{escaped}"'


def _calibration(text: str, where: str) -> Calibration:
    try:
        table = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise SheetError(f"{where} is not valid TOML: {error}.") from None
    if (table.pop("format", None), table.pop("format_version", None)) != (FORMAT, FORMAT_VERSION):
        raise SheetError(
            f"{where} is no calibration of this release: format must be {FORMAT!r} and format_version "
            f"{FORMAT_VERSION}; make it anew with `sim calibrate`."
        )
    parts: dict[str, Any] = {name: table.pop(name, {}) for name in _PARTS}
    if table:
        raise SheetError(f"{where}: unknown key {min(table)!r}; the keys are {', '.join(_PARTS)}.")
    return _checked(parts, where)


_PARTS = ("settings", "hardware", "versions", "sources", "errors", "envelope", "times")


def _checked(parts: dict[str, Any], where: str) -> Calibration:
    for name, part in parts.items():
        if not isinstance(part, list if name == "sources" and part else dict):
            raise SheetError(f"{where}: {name} must be a table.")
    errors = {name: _build(ClassError, error, f"{where} [errors.{name}]") for name, error in parts["errors"].items()}
    times: FittedTimes = _build(FittedTimes, parts["times"], f"{where} [times]")
    _check_tables(times, f"{where} [times]")
    return Calibration(
        settings=_build(CalibratedSettings, parts["settings"], f"{where} [settings]"),
        hardware=_hardware(parts["hardware"], f"{where} [hardware]"),
        versions=parts["versions"],
        sources=tuple(_build(Source, source, f"{where} [[sources]]") for source in parts["sources"]),
        errors=errors,
        envelope=_envelope(parts["envelope"], f"{where} [envelope]"),
        times=times,
    )


def _hardware(table: dict[str, Any], where: str) -> dict[str, Fact]:
    """Facts for a reader, but for the speed of the host, by which host times are scaled."""
    for name, value in table.items():
        if not isinstance(value, str | int | float):
            raise SheetError(f"{where} {name} is {value!r}; it must be text or a number.")
    probe_us = table.get("host_probe_us", 1.0)
    if isinstance(probe_us, bool | str) or not 0 < probe_us <= sys.float_info.max:
        raise SheetError(f"{where} host_probe_us is {probe_us!r}; it must be a time in microseconds, above 0.")
    return table


def _envelope(table: dict[str, Any], where: str) -> Envelope:
    for name, columns in table.items():
        if name not in STEP_CLASSES:
            raise SheetError(f"{where}: {name!r} is no class of steps; these are {', '.join(STEP_CLASSES)}.")
        if not isinstance(columns, dict) or set(columns) != set(columns_of(name)):
            raise SheetError(f"{where}: {name} must have a range for each of {', '.join(columns_of(name))}.")
    return Envelope(
        {
            name: {key: _range(value, f"{where} {name}: {key}") for key, value in columns.items()}
            for name, columns in table.items()
        }
    )


def _range(value: object, where: str) -> tuple[float, float]:
    numbers = _convert(tuple[float, ...], value, where)
    if len(numbers) != 2 or numbers[0] > numbers[1]:
        raise SheetError(f"{where} is {value!r}; it must be the smallest and the largest value.")
    return numbers[0], numbers[1]


def _build(expected: Any, table: object, where: str) -> Any:  # noqa: ANN401  # a dataclass, as asked for
    """A dataclass from exactly its own keys."""
    types = get_type_hints(expected)
    if not isinstance(table, dict):
        raise SheetError(f"{where} must be a table.")
    for name in table.keys() - types.keys():
        raise SheetError(f"{where}: unknown key {name!r}; the keys are {', '.join(types)}.")
    for name in types.keys() - table.keys():
        raise SheetError(f"{where}: the key {name!r} is missing.")
    return expected(**{name: _convert(type_, table[name], f"{where} {name}") for name, type_ in types.items()})


def _convert(expected: Any, value: Any, where: str) -> Any:  # noqa: ANN401  # by the type asked for
    if is_dataclass(expected):
        return _build(expected, value, where)
    if get_origin(expected) is tuple:
        if not isinstance(value, list):
            raise SheetError(f"{where} is {value!r}; it must be a list.")
        return tuple(_convert(get_args(expected)[0], each, where) for each in value)
    if expected is float and type(value) is int and abs(value) <= sys.float_info.max:
        value = float(value)
    if type(value) is not expected or (isinstance(value, float) and not math.isfinite(value)):
        raise SheetError(f"{where} is {value!r}; it must be {_WANTED[expected]}.")
    return value


_WANTED: dict[object, str] = {str: "text", int: "a whole number", float: "a number"}


def _check_tables(times: object, where: str) -> None:
    """Numbers must not be negative, points rise, and tables have a value for each point."""
    for name, value in _items(times).items():
        if is_dataclass(value):
            _check_tables(value, f"{where} {name}")
        elif isinstance(value, float):
            _check_row((value,), f"{where} {name}", is_points=False)
        else:
            for row in value if value and isinstance(value[0], tuple) else (value,):
                _check_row(row, f"{where} {name}", is_points=name in _POINTS)
    _check_lengths(_items(times), where)


_POINTS = ("tokens", "rows", "context_limits")


def _check_row(row: tuple[float, ...], where: str, *, is_points: bool) -> None:
    if not is_points and min(row, default=0.0) < 0:
        raise SheetError(f"{where} has {min(row)}; no such number is negative.")
    if is_points and any(left >= right for left, right in pairwise(row)):
        raise SheetError(f"{where} is {list(row)}; its numbers must rise.")


def _check_lengths(items: dict[str, Any], where: str) -> None:
    """Of a part: its own points, or those of its products."""
    own = items.get("products", items)
    points = next((_items(own)[name] for name in _POINTS if name in _items(own)), None)
    if points is None:
        return
    num_bands = len(items.get("context_limits", ())) + 1
    for name, value in items.items():
        if not isinstance(value, tuple) or name in _POINTS:
            continue
        rows = value if "context_limits" in items and name.endswith("_us") else (value,)
        expected = num_bands if name.endswith("_us") else 1
        if not points or len(rows) != expected or any(len(row) != len(points) for row in rows):
            raise SheetError(f"{where} {name} must have {expected} x {len(points)} numbers, at least one.")
    if items.get("full_rows", 1.0) == 0:
        raise SheetError(f"{where} full_rows is 0; some rows must fill the device.")
    if items.get("shared_saving", 0.0) > 1:
        raise SheetError(f"{where} shared_saving is {items['shared_saving']}; nobody saves more than all, 1.")
