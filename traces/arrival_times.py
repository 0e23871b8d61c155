"""Time stamps of a file as arrivals on the trace's clock."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from traces.time_origin import in_words
from traces.time_quantum import MAX_TIME_S, NS_PER_SECOND, to_seconds
from traces.trace_lines import TraceLines


class Stamp(NamedTuple):
    """A time stamp as it stands in a file.

    Attributes:
        line: where it stands, from 1.
        amount: time in the file's unit, zero or more.
    """

    line: int
    amount: float


@dataclass(frozen=True, slots=True)
class ArrivalTimes:
    """How the stamps of one file become seconds: as they are, or counted from the earliest if they are too large.

    Attributes:
        origin: stamp that becomes time 0.
        units_per_second: 1000 for milliseconds.
    """

    origin: float
    units_per_second: int

    @classmethod
    def of(cls, stamps: Sequence[Stamp], field: str, units_per_second: int, lines: TraceLines) -> "ArrivalTimes":
        """Choose the origin: 0, or the earliest stamp of a trace in calendar time.

        Raises:
            TraceError: the stamps lie further apart than a trace may span.
        """
        max_amount = MAX_TIME_S * units_per_second
        latest = max(stamps, key=lambda stamp: stamp.amount, default=Stamp(0, 0))
        if latest.amount <= max_amount:
            return cls(0, units_per_second)
        origin = min(stamp.amount for stamp in stamps)
        if latest.amount - origin > max_amount:
            raise lines.error(
                latest.line,
                f"{field} is {latest.amount}, which lies {latest.amount - origin:.6g} behind the earliest, but a trace "
                f"spans at most {max_amount} (48.5 days at {units_per_second:,} a second); "
                "check its unit (--time-unit)",
            )
        return cls(origin, units_per_second)

    def arrival_s(self, amount: float) -> float:
        """Return a stamp as seconds, a multiple of 2**-30."""
        return to_seconds(amount - self.origin, self.units_per_second)

    @property
    def notices(self) -> tuple[str, ...]:
        """A sentence about the origin, if it is not 0."""
        if self.origin == 0:
            return ()
        origin_ns = round(Fraction(self.origin) * NS_PER_SECOND / self.units_per_second)
        return (f"Time stamps are calendar times: they count from the earliest, {in_words(origin_ns)}.",)
