"""A span of a trace: which requests lie in it."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from traces.errors import TraceError
from traces.trace_request import TraceRequest


@dataclass(frozen=True, slots=True)
class Window:
    """Requests whose first turn arrives in [start_s, end_s), at most `limit` of them.

    Attributes:
        start_s: seconds on the trace's clock; None is the beginning.
        end_s: seconds on the trace's clock; None is the end.
        limit: requests, later turns included; None is no limit.

    Raises:
        TraceError: a bound is negative or not finite, or can hold nothing.
    """

    start_s: float | None = None
    end_s: float | None = None
    limit: int | None = None

    def __post_init__(self) -> None:
        for name, time_s in (("start", self.start_s), ("end", self.end_s)):
            if time_s is not None and not (math.isfinite(time_s) and time_s >= 0):
                raise TraceError(f"the {name} of a window is {time_s} s, but it must be a number of seconds from 0")
        if self.end_s is not None and self.end_s <= (self.start_s or 0):
            raise TraceError(f"a window ends at {self.end_s} s, but it must end after its start, {self.start_s or 0} s")
        if self.limit is not None and self.limit < 1:
            raise TraceError(f"the limit of a window is {self.limit} requests, but it must be at least 1")

    def __str__(self) -> str:
        bounds = (
            None if self.start_s is None else f"from {self.start_s:.10g} s",
            None if self.end_s is None else f"before {self.end_s:.10g} s",
            None if self.limit is None else f"at most {self.limit} requests",
        )
        return ", ".join(filter(None, bounds)) or "everything"

    def select(self, requests: Iterable[TraceRequest]) -> list[TraceRequest]:
        """Return the requests inside, a session whole or not at all; the limit ends before one that exceeds it.

        Args:
            requests: in the order of a trace, so that a session's later turns follow its first.
        """
        selected: list[TraceRequest] = []
        is_inside = False
        for request in requests:
            if request.arrival_s is not None:
                is_inside = self._holds(request.arrival_s)
            if is_inside:
                selected.append(request)
        return self._limited(selected)

    def _holds(self, arrival_s: float) -> bool:
        return (self.start_s or 0) <= arrival_s and (self.end_s is None or arrival_s < self.end_s)

    def _limited(self, requests: list[TraceRequest]) -> list[TraceRequest]:
        if self.limit is None or len(requests) <= self.limit:
            return requests
        num_kept = self.limit
        while num_kept and requests[num_kept].arrival_s is None:
            num_kept -= 1
        return requests[:num_kept]
