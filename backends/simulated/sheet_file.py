"""Sheets: TOML files that describe a model or a GPU."""

import math
import tomllib
from dataclasses import fields, is_dataclass
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from backends.errors import SheetError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Sheet = TypeVar("Sheet", bound="DataclassInstance")
SheetKind = Literal["model", "GPU"]
_FOLDERS: dict[SheetKind, str] = {"model": "models", "GPU": "gpus"}


def load_sheet(sheet_class: type[Sheet], kind: SheetKind, name_or_path: str | Path) -> Sheet:
    """Read a sheet of this package by name, or any sheet file by path.

    Case, spaces and punctuation of a name do not matter, and neither does an organisation before it
    ("Qwen/Qwen3-8B"). What ends in ".toml" is a path.

    Raises:
        SheetError: unknown name, unreadable file, or a key or value that cannot be.
    """
    if str(name_or_path).lower().endswith(".toml"):
        return build_sheet(sheet_class, _parse(_read(Path(name_or_path)), str(name_or_path)), str(name_or_path))
    wanted = _key(str(name_or_path).rpartition("/")[2])
    for file in _own_sheets(kind):
        if _key(file.name.removesuffix(".toml")) == wanted:
            return build_sheet(sheet_class, _parse(file.read_text("utf-8"), file.name), file.name)
    known = ", ".join(sheet_names(kind))
    unknown = f"Unknown {kind} {str(name_or_path)!r}{_near(wanted, known)}"
    raise SheetError(f"{unknown}; known are {known}, or give a sheet file (NAME.toml).")


def _near(wanted: str, known: str) -> str:
    """A hint at the known name that begins with the wanted one or the other way round; other names are other things."""
    names = {_key(name): name for name in known.split(", ")}
    alike = [key for key in names if wanted and (key.startswith(wanted) or wanted.startswith(key))]
    return f" (did you mean {names[alike[0]]}?)" if alike else ""


def sheet_names(kind: SheetKind) -> list[str]:
    """Names of this package's own sheets."""
    return sorted(str(_parse(file.read_text("utf-8"), file.name)["name"]) for file in _own_sheets(kind))


def _own_sheets(kind: SheetKind) -> list[Traversable]:
    folder = resources.files("backends.simulated").joinpath("sheets").joinpath(_FOLDERS[kind])
    return [file for file in folder.iterdir() if file.name.endswith(".toml")]


def _key(name: str) -> str:
    return "".join(char for char in name.lower() if char.isalnum())


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise SheetError(f"Cannot read the sheet {path}: {reason}.") from None


def _parse(text: str, where: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise SheetError(f"{where} is not valid TOML: {error}.") from None


def build_sheet(sheet_class: type[Sheet], table: dict[str, Any], where: str) -> Sheet:
    """Make a sheet from exactly its own keys; a key whose type is a dataclass is a table."""
    types = {field.name: field.type for field in fields(sheet_class)}
    for name in table.keys() - types.keys():
        raise SheetError(f"{where}: unknown key {name!r}; the keys are {', '.join(types)}.")
    for name in types.keys() - table.keys():
        raise SheetError(f"{where}: the key {name!r} is missing.")
    try:
        return sheet_class(**{name: _value(types[name], name, table[name], where) for name in types})
    except SheetError as error:
        message = str(error)
        raise SheetError(message if message.startswith(where) else f"{where}: {message}") from None


def _value(expected: object, name: str, value: object, where: str) -> object:
    if isinstance(expected, type) and is_dataclass(expected):
        if not isinstance(value, dict):
            raise SheetError(f"{where}: {name} is {value!r}; it must be a table.")
        return build_sheet(expected, value, f"{where} [{name}]")
    if expected is float and type(value) is int:
        value = float(value)
    if type(value) is not expected:
        raise SheetError(f"{where}: {name} is {value!r}; it must be {_WANTED[expected]}.")
    if isinstance(value, int | float) and not isinstance(value, bool):
        if not (value > 0 and value < math.inf):
            raise SheetError(f"{where}: {name} is {value!r}; it must be above 0.")
        if not _LEAST <= value <= _MOST:
            raise SheetError(f"{where}: {name} is {value!r}; it must be from {_LEAST:g} to {_MOST:g}.")
    return value


# No device comes near; beyond, times of steps would become infinite.
_LEAST, _MOST = 1e-15, 1e21


_WANTED: dict[object, str] = {str: "text", bool: "true or false", int: "a whole number", float: "a number"}
