"""Checks of the settings that parts of a made trace have."""

import math

from traces.errors import TraceError

MAX_COUNT = 2**31 - 1


def check_above_zero(name: str, value: float) -> None:
    """Raise TraceError unless a value is a finite number above 0."""
    if not (math.isfinite(value) and value > 0):
        raise TraceError(f"{name} is {value}, but it must be a number above 0")


def check_from_zero(name: str, value: float, highest: float = math.inf) -> None:
    """Raise TraceError unless a value is a finite number from 0, and not above `highest`."""
    if not (math.isfinite(value) and 0 <= value <= highest):
        bound = "" if math.isinf(highest) else f" to {highest:g}"
        raise TraceError(f"{name} is {value}, but it must be a number from 0{bound}")


def check_count(name: str, value: int, lowest: int = 1) -> None:
    """Raise TraceError unless a value is a number of things from `lowest` to what 32 bits hold."""
    if not lowest <= value <= MAX_COUNT:
        raise TraceError(f"{name} is {value}, but it must be a whole number from {lowest} to {MAX_COUNT}")
