"""Numbers as they are drawn: with as many digits as an eye or a tooltip can use."""

import math

DIGITS = 6


def drawn(value: float | None) -> float | None:
    """A value with six significant digits; None if it is undefined."""
    if value is None or math.isnan(value):
        return None
    return float(f"{value:.{DIGITS}g}")
