"""The times of a part of a cost model as one vector, and back."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Part = TypeVar("Part", bound="DataclassInstance")
Vector = NDArray[np.float64]


def to_vector(part: "DataclassInstance") -> Vector:
    """All its times, in the order of the fields, in microseconds."""
    return np.concatenate([*_values(part)])


def with_vector(part: Part, vector: Vector) -> Part:
    """The same part with other times, as `to_vector` orders them."""
    changed: dict[str, Any] = {}
    for name, value in _times_of(part):
        size = len(_flat(value))
        changed[name], vector = _shaped(value, vector[:size]), vector[size:]
    return replace(part, **changed)


def places(part: "DataclassInstance", prefix: str = "") -> dict[str, slice]:
    """Where the times of each field lie in the vector, by name; those of inner parts as "inner.field"."""
    found: dict[str, slice] = {}
    first = 0
    for name, value in _times_of(part):
        size = len(_flat(value))
        if is_dataclass(value) and not isinstance(value, type):
            inner = places(value, f"{prefix}{name}.")
            found |= {key: slice(first + place.start, first + place.stop) for key, place in inner.items()}
        else:
            found[f"{prefix}{name}"] = slice(first, first + size)
        first += size
    return found


def _times_of(part: "DataclassInstance") -> Iterator[tuple[str, Any]]:
    for field in fields(part):
        value = getattr(part, field.name)
        if is_dataclass(value) or field.name.endswith("_us"):
            yield field.name, value


def _values(part: "DataclassInstance") -> Iterator[Vector]:
    for _, value in _times_of(part):
        yield _flat(value)


def _flat(value: Any) -> Vector:  # noqa: ANN401  # a number, nested tuples of numbers, or a part
    return to_vector(value) if is_dataclass(value) and not isinstance(value, type) else np.ravel(value).astype(float)


def _shaped(value: Any, vector: Vector) -> Any:  # noqa: ANN401  # like `value`
    if is_dataclass(value) and not isinstance(value, type):
        return with_vector(value, vector)
    shaped = vector.reshape(np.shape(value)).tolist()
    return _tuples(shaped)


def _tuples(value: Any) -> Any:  # noqa: ANN401  # lists of lists of numbers, or a number
    return tuple(_tuples(each) for each in value) if isinstance(value, list) else value
