"""Leaves fields of requests out."""

from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import replace

from traces.canonical_row import default_request_id
from traces.errors import TraceError
from traces.time_order import TimeOrder
from traces.time_quantum import to_seconds
from traces.trace_request import TraceRequest

DROPPABLE = ("hash_ids", "priority", "prompt", "request_id", "session_id", "timestamp_fraction")


class FieldDrop:
    """Passes requests on without some of their fields.

    Without `hash_ids` no prompt shares a prefix, and without `request_id` requests are numbered. Without `session_id`
    each turn is a request of its own at the earliest time that its delays allow. `timestamp_fraction` is what a time
    has beyond whole milliseconds.

    Args:
        fields: what is left out.
        take: gets the requests that are left.

    Attributes:
        num_changed: by field, how many requests had it.

    Raises:
        TraceError: one of the fields cannot be left out.
    """

    def __init__(self, fields: Collection[str], take: Callable[[TraceRequest], object]) -> None:
        for field in fields:
            if field not in DROPPABLE:
                raise TraceError(f"the field {field!r} cannot be dropped; it must be one of {', '.join(DROPPABLE)}")
        self.num_changed: Counter[str] = Counter()
        self._fields = fields
        self._take = take
        self._num_passed = 0
        self._order = TimeOrder(self._pass_opened) if "session_id" in fields else None

    def add(self, request: TraceRequest) -> None:
        """Take the next request of a trace."""
        if self._order is not None:
            self._order.add(request)
        else:
            self._pass_on(request)

    def finish(self) -> None:
        """Pass on what is held."""
        if self._order is not None:
            self._order.finish()

    def _pass_opened(self, request: TraceRequest, time_s: float) -> None:
        self.num_changed["session_id"] += request.session_id is not None
        self._pass_on(replace(request, arrival_s=time_s, delay_s=None, session_id=None))

    def _pass_on(self, request: TraceRequest) -> None:
        for field in self._fields:
            dropped = self._without(field, request)
            if dropped != request:
                self.num_changed[field] += 1
                request = dropped
        self._num_passed += 1
        self._take(request)

    def _without(self, field: str, request: TraceRequest) -> TraceRequest:
        match field:
            case "hash_ids":
                return replace(request, hash_ids=None)
            case "priority":
                return replace(request, priority=0)
            case "prompt":
                return replace(request, prompt=None)
            case "request_id":
                return replace(request, request_id=default_request_id(self._num_passed))
            case "timestamp_fraction":
                return replace(request, arrival_s=_whole_ms(request.arrival_s), delay_s=_whole_ms(request.delay_s))
            case _:
                return request  # sessions are dropped before


def _whole_ms(time_s: float | None) -> float | None:
    # A time in ms is stored as the nearest multiple of 2**-30 s, which may lie a little below it.
    return None if time_s is None else to_seconds(int(time_s * 1000 + 1e-6), 1000)
