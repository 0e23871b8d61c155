"""Arrivals at the same time, spread over the time to which they were rounded."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby, pairwise

import numpy as np

from traces.errors import TraceError
from traces.request_order import in_order
from traces.time_quantum import to_seconds
from traces.trace import Trace
from traces.trace_request import TraceRequest

MICROSECONDS = 10**6
TIE_RULES = ("even", "uniform")


@dataclass(frozen=True, slots=True)
class TieSpread:
    """How arrivals of one time are told apart; their order stays.

        rounded     3 x           |     2 x           |
        even        x     x     x |     x        x    |
                    resolution

    Attributes:
        rule: "even" puts n arrivals a resolution / n apart, the first at its time; "uniform" draws them.
        resolution_s: time to which arrivals were rounded down, in seconds; None takes the shortest distance between
            different ones. No arrival is moved to the next time or beyond.
        seed: of what is drawn.

    Raises:
        TraceError: there is no such rule, or the resolution is not above 0.
    """

    rule: str
    resolution_s: float | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if self.rule not in TIE_RULES:
            raise TraceError(f"ties are spread {self.rule!r}, but it must be one of {', '.join(TIE_RULES)}")
        if self.resolution_s is not None and not (math.isfinite(self.resolution_s) and self.resolution_s > 0):
            raise TraceError(f"the resolution of ties is {self.resolution_s} s, but it must be above 0")

    def apply(self, trace: Trace) -> Trace:
        """Return the trace with its ties spread.

        Raises:
            TraceError: all arrive at one time and no resolution is given.
        """
        times_s = sorted({request.arrival_s for request in trace.requests if request.arrival_s is not None})
        resolution_s = self._resolution_s(trace, times_s)
        room_s = {time_s: min(resolution_s, after_s - time_s) for time_s, after_s in pairwise(times_s)}
        room_s[times_s[-1]] = resolution_s
        moved = dict(self._moved(trace.requests, room_s))
        requests = (replace(each, arrival_s=moved.get(each.request_id, each.arrival_s)) for each in trace.requests)
        notice = (
            f"{len(moved)} arrivals at the same time as another were spread over {resolution_s:.7g} s, rule "
            f"{self.rule}{f', seed {self.seed}' if self.rule == 'uniform' else ''}."
        )
        return replace(trace, requests=in_order(requests), notices=(*trace.notices, notice))

    def _resolution_s(self, trace: Trace, times_s: list[float]) -> float:
        if self.resolution_s is not None:
            return self.resolution_s
        if len(times_s) < 2:
            raise TraceError(
                f"all requests of {trace.name} arrive at {times_s[0]} s, which says nothing of how times were rounded; "
                "give the resolution"
            )
        return min(after_s - time_s for time_s, after_s in pairwise(times_s))

    def _moved(self, requests: Iterable[TraceRequest], room_s: dict[float, float]) -> Iterator[tuple[str, float]]:
        """Yield the new arrival of each request that shares its own, by request id."""
        rng = np.random.default_rng(self.seed)
        first_turns = (request for request in requests if request.arrival_s is not None)
        for time_s, group in groupby(first_turns, key=lambda request: request.arrival_s or 0.0):
            tied = list(group)
            if len(tied) > 1:
                shares = self._shares(len(tied), rng)
                for request, share in zip(tied, shares, strict=True):
                    yield request.request_id, _microsecond(time_s, share * room_s[time_s])

    def _shares(self, num: int, rng: np.random.Generator) -> list[float]:
        """Return where in the resolution each arrival lies, from 0 to below 1, ascending."""
        if self.rule == "even":
            return [position / num for position in range(num)]
        return sorted(rng.random(num).tolist())


def _microsecond(time_s: float, later_s: float) -> float:
    """Return the whole microsecond before `later_s` seconds after a time, so that a file stays readable."""
    return max(time_s, to_seconds(int((time_s + later_s) * MICROSECONDS), MICROSECONDS))
