"""Dates and times of day as nanoseconds since 1970."""

import re
from datetime import UTC, datetime

from traces.time_quantum import NS_PER_SECOND

TIMESTAMP = re.compile(r"\s*(\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)?\s*", re.ASCII)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class CalendarTimes:
    """Reads times of one file; neighbours mostly lie in the same second, whose date is then reckoned once."""

    def __init__(self) -> None:
        self._second = ""
        self._second_ns: int | None = None

    def time_ns(self, text: str) -> int | None:
        """Return nanoseconds since 1970, or None where the text is no date with a time.

        A time without an offset is taken as UTC, with or without a fraction; all its digits, up to nine, count.
        """
        found = TIMESTAMP.fullmatch(text)
        if found is None:
            return None
        second = found[1] + (found[3] or "+00:00")
        if second != self._second:
            self._second, self._second_ns = second, _since_epoch_ns(second)
        if self._second_ns is None:
            return None
        fraction = found[2]
        return self._second_ns + int(fraction.ljust(9, "0")) if fraction else self._second_ns


def _since_epoch_ns(text: str) -> int | None:
    try:
        elapsed = datetime.fromisoformat(text) - EPOCH
    except ValueError:  # the right digits, but no such day or hour
        return None
    return (elapsed.days * 86_400 + elapsed.seconds) * NS_PER_SECOND
