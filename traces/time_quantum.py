"""Times of a trace as multiples of 2**-30 s, so that sums of them are exact in float64."""

from traces.errors import TraceError

QUANTA_PER_SECOND = 2**30
NS_PER_SECOND = 10**9
MAX_TIME_S = 2**22
"""Latest time that a trace may hold (48.5 days): up to here neighbouring quanta stay apart when written in ms."""


def to_seconds(amount: float, units_per_second: int) -> float:
    """Return a time as the nearest multiple of 2**-30 s.

    Args:
        amount: time in the given unit, zero or more; an int is taken exactly, whatever its size.
        units_per_second: 1000 for milliseconds, 10**9 for nanoseconds.
    """
    whole, rest = divmod(amount, units_per_second)
    return whole + round(rest * QUANTA_PER_SECOND / units_per_second) / QUANTA_PER_SECOND


def to_milliseconds(time_s: float) -> float:
    """Return the number with the fewest digits that `to_seconds(number, 1000)` turns into `time_s` again.

    Raises:
        TraceError: `time_s` is negative, above `MAX_TIME_S`, or no multiple of 2**-30 s.
    """
    if not 0 <= time_s <= MAX_TIME_S or time_s * QUANTA_PER_SECOND % 1:
        raise TraceError(f"a time of {time_s} s is not a multiple of 2**-30 s from 0 to {MAX_TIME_S} s")
    exact = time_s * 1000
    # What three digits give that is whole, none would give too.
    number = next(
        (number for number in (round(exact, 3), round(exact, 6)) if to_seconds(number, 1000) == time_s), exact
    )
    return int(number) if number == int(number) else number
