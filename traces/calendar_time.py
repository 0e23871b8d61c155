"""Dates and times of day as nanoseconds since 1970."""

import re
from datetime import UTC, datetime

from traces.time_quantum import NS_PER_SECOND

TIMESTAMP = re.compile(r"\s*(\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)?\s*", re.ASCII)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class CalendarTimes:
    """Reads times of one file; neighbours mostly lie in the same second, which is then reckoned once.

    2024-05-10 00:00:00.009930+00:00
    |--- second -----||fraction| offset
    """

    def __init__(self) -> None:
        self._second = self._offset = "none"
        self._second_ns = 0

    def time_ns(self, text: str) -> int | None:
        """Return nanoseconds since 1970, or None where the text is no date with a time.

        A time without an offset is taken as UTC, with or without a fraction; all its digits, up to nine, count.
        """
        if text[:19] == self._second and text.endswith(self._offset):
            digits = text[20 : len(text) - len(self._offset)]
            if text[19:20] == "." and digits.isdecimal() and digits.isascii() and len(digits) <= 9:
                return self._second_ns + int(digits.ljust(9, "0"))
        return self._any_time_ns(text)

    def _any_time_ns(self, text: str) -> int | None:
        found = TIMESTAMP.fullmatch(text)
        second_ns = _since_epoch_ns(found[1] + (found[3] or "+00:00")) if found else None
        if found is None or second_ns is None:
            return None
        self._second, self._offset, self._second_ns = found[1], found[3] or "", second_ns
        return second_ns + int((found[2] or "").ljust(9, "0"))


def _since_epoch_ns(text: str) -> int | None:
    try:
        elapsed = datetime.fromisoformat(text) - EPOCH
    except ValueError:  # the right digits, but no such day or hour
        return None
    return (elapsed.days * 86_400 + elapsed.seconds) * NS_PER_SECOND
