"""When each request of a trace comes."""

import heapq
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sim.time_quantum import quantise
from traces import TraceRequest


class Arrival(NamedTuple):
    """A request that has come.

    Attributes:
        arrival_s: when; of a session's later turn, the end of the turn before plus its delay.
        line: line in the trace file; orders what comes at one instant.
        position: place in the trace, from 0.
        request: what was asked.
    """

    arrival_s: float
    line: int
    position: int
    request: TraceRequest


class Arrivals:
    """Open loop between sessions, closed loop inside one: a turn comes after the turn before has ended, however."""

    def __init__(self, requests: Sequence[TraceRequest]) -> None:
        """Take a trace's requests; the turns of a session stand in their order."""
        self._heap: list[Arrival] = []
        self._next_turn: dict[str, tuple[int, TraceRequest]] = {}
        last_of_session: dict[str, str] = {}
        for position, request in enumerate(requests):
            if request.arrival_s is not None:
                self._heap.append(Arrival(request.arrival_s, request.line, position, request))
            elif request.session_id is not None:
                self._next_turn[last_of_session[request.session_id]] = (position, request)
            if request.session_id is not None:
                last_of_session[request.session_id] = request.request_id
        heapq.heapify(self._heap)

    @property
    def next_s(self) -> float | None:
        """Time of the next arrival that is known; None if there is none."""
        return self._heap[0].arrival_s if self._heap else None

    def due(self, now_s: float) -> Iterator[Arrival]:
        """Remove and yield what has come by `now_s`, by (time, line), turns released meanwhile included."""
        while self._heap and self._heap[0].arrival_s <= now_s:
            yield heapq.heappop(self._heap)

    def release(self, request_id: str, ended_s: float) -> None:
        """Let the turn after `request_id` come, if there is one."""
        if request_id in self._next_turn:
            position, request = self._next_turn.pop(request_id)
            arrival_s = ended_s + quantise(request.delay_s or 0.0)
            heapq.heappush(self._heap, Arrival(arrival_s, request.line, position, request))

    def left(self) -> list[tuple[int, TraceRequest]]:
        """What has not come: place in the trace and request."""
        return [*((each.position, each.request) for each in self._heap), *self._next_turn.values()]
