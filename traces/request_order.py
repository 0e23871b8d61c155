"""The order of requests in a trace."""

from collections.abc import Iterable

from traces.errors import TraceError
from traces.trace_request import TraceRequest


def in_order(requests: Iterable[TraceRequest]) -> tuple[TraceRequest, ...]:
    """Return the requests by (arrival, line), later turns of a session right behind their first turn by line.

    Raises:
        TraceError: a later turn has no first turn.
    """
    requests = tuple(requests)
    first_turns = {request.session_id: request for request in requests if request.arrival_s is not None}

    def position(request: TraceRequest) -> tuple[float, int, int]:
        if request.arrival_s is not None:
            return request.arrival_s, request.line, 0
        first = first_turns.get(request.session_id)
        if request.session_id is None or first is None or first.arrival_s is None:
            raise TraceError(f"request {request.request_id} is a later turn, but its session has no first turn")
        return first.arrival_s, first.line, request.line

    return tuple(sorted(requests, key=position))
