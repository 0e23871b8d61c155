"""Requests by the earliest time at which each can come."""

import heapq
from collections.abc import Callable

from traces.trace_request import TraceRequest


class TimeOrder:
    """Passes requests on in the order of time: later turns come as soon as their delays allow.

    A trace keeps a session together, although others arrive between its turns:

        trace        a1 a2 a3 b1 c1
        delays       a1 ---> a2 ---> a3
        arrivals     |    b1      c1
        passed on    a1 b1 a2 c1 a3

    How long an answer takes is not known and is taken as 0. Only later turns that lie
    behind the latest arrival are held.

    Args:
        take: gets the requests, each with its time in seconds.
    """

    def __init__(self, take: Callable[[TraceRequest, float], object]) -> None:
        self._take = take
        self._waiting: list[tuple[float, int, TraceRequest]] = []
        self._num_seen = 0
        self._time_s = 0.0

    def add(self, request: TraceRequest) -> None:
        """Take the next request of a trace."""
        if request.arrival_s is not None:
            self._time_s = request.arrival_s
            while self._waiting and self._waiting[0][0] <= request.arrival_s:
                self._pass_on()
            self._take(request, request.arrival_s)
        else:
            self._time_s += request.delay_s or 0.0
            heapq.heappush(self._waiting, (self._time_s, self._num_seen, request))
            self._num_seen += 1

    def finish(self) -> None:
        """Pass on what is held."""
        while self._waiting:
            self._pass_on()

    def _pass_on(self) -> None:
        time_s, _, request = heapq.heappop(self._waiting)
        self._take(request, time_s)
