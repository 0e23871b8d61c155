"""Durations as people write them: 500ms, 60s, 2min."""

import math
import re

from analysis.errors import SloError

_SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}
_PATTERN = re.compile(r"\s*([0-9.eE+-]+)\s*(us|ms|s|min|h)\s*")


def parse_duration(text: str) -> float:
    """Returns seconds.

    Args:
        text: a number and a unit: us, ms, s, min or h.

    Raises:
        SloError: there is no unit, or no number, or it is negative or not finite.
    """
    match = _PATTERN.fullmatch(text)
    try:
        seconds = float(match[1]) * _SECONDS[match[2]] if match else math.nan
    except ValueError:
        seconds = math.nan
    if not (math.isfinite(seconds) and seconds >= 0):
        raise SloError(f"{text!r} is not a duration; write a number and a unit (us, ms, s, min, h), such as 500ms.")
    return seconds
