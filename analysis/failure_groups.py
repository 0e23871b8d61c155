"""Reasons of failures that are the same sentence with other numbers or names, put together."""

import re
from collections.abc import Iterable

_VARIABLE = re.compile(r"('[^']*'|\d[\d,.]*\d|\d)")


def count_by_reason(reasons: Iterable[str | None]) -> dict[str, int]:
    """Counts reasons, in order of first appearance.

    Returns:
        Count by sentence. Where reasons of one sentence differ, a number is given as its range and a name in quotes as
        '...': "The prompt of '...' has 600 to 900 tokens". None counts as "unknown".
    """
    groups: dict[str, list[list[str]]] = {}
    for reason in reasons:
        parts = _VARIABLE.split(reason or "unknown")
        groups.setdefault("#".join(parts[::2]), []).append(parts)
    counts: dict[str, int] = {}
    for members in groups.values():
        sentence = "".join(_joined(set(column)) for column in zip(*members, strict=True))
        counts[sentence] = counts.get(sentence, 0) + len(members)
    return counts


def _joined(values: set[str]) -> str:
    if len(values) == 1:
        return next(iter(values))
    if any(value.startswith("'") for value in values):
        return "'...'"
    lowest, *_, highest = sorted(values, key=_order)
    return f"{lowest} to {highest}"


def _order(number: str) -> list[int]:
    """By size as far as numbers are whole; versions and times of day by their parts."""
    return [int(part) for part in number.replace(",", "").split(".") if part]
