"""Sizes of caches as people write them: 1M,10M."""

import re

from sim.errors import SimError

_FACTORS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9}
_PATTERN = re.compile(r"\s*(\d{1,12}(?:\.\d{1,9})?)\s*([kmgKMG]?)\s*", re.ASCII)


def parse_sizes(flag: str, text: str) -> tuple[int, ...]:
    """Return whole numbers, ascending.

    Args:
        flag: option that they were given with, for errors.
        text: numbers with commas between; k, M and G stand for thousand, million and a thousand million.

    Raises:
        SimError: one of them is no number, or too large.
    """
    return tuple(sorted({_size(flag, item) for item in text.split(",")}))


def _size(flag: str, text: str) -> int:
    found = _PATTERN.fullmatch(text)
    size = float(found[1]) * _FACTORS[found[2].lower()] if found else 0.5
    if size != int(size) or size > 2**53:
        raise SimError(f"{flag} has {text!r}; sizes are whole numbers with commas between, such as 500k,1M,10M.")
    return int(size)
