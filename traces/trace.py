"""A trace: requests in the order of their arrival."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from traces.errors import TraceError
from traces.hash_id_count import HashIdCount, hash_id_count
from traces.request_order import in_order
from traces.time_quantum import MAX_TIME_S, to_seconds
from traces.trace_digest import TraceDigest
from traces.trace_request import TraceRequest
from traces.window import Window

DEFAULT_BLOCK_SIZE = 512


@dataclass(frozen=True, kw_only=True)
class Trace:
    """What was asked, in order; nothing in it changes.

    Two traces are equal when they hold the same requests with the same block size; the rest does not count.

    Attributes:
        name: file name, or what made the trace.
        requests: by (arrival, line); later turns of a session stand right behind its first turn.
        block_size: prompt tokens that one of `hash_ids` stands for. It is not the engine's block size.
        notices: what was decided, sorted, dropped or cut on the way here, one sentence each.
        dropped: rows of the file that cannot be replayed, by reason.

    Raises:
        TraceError: there are no requests, two have the same id, or they are not in order.
    """

    name: str = field(compare=False)
    requests: tuple[TraceRequest, ...]
    block_size: int = DEFAULT_BLOCK_SIZE
    notices: tuple[str, ...] = field(default=(), compare=False)
    dropped: Mapping[str, int] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        if not self.requests:
            raise TraceError(f"{self.name} has no requests")
        if len({request.request_id for request in self.requests}) < len(self.requests):
            raise TraceError(f"{self.name} has two requests with the same request_id")
        if in_order(self.requests) != self.requests:
            raise TraceError(f"the requests of {self.name} are not in order of arrival and line")

    @cached_property
    def digest(self) -> str:
        """Identity of the content in 32 hex digits; the same for the same requests from any file."""
        digest = TraceDigest(self.block_size)
        for request in self.requests:
            digest.add(request)
        return digest.hexdigest()

    @cached_property
    def hash_id_count(self) -> HashIdCount | None:
        """Whether a partial last block has an id ("ceil") or not ("floor"); None where no request has ids."""
        return hash_id_count(self.requests, self.block_size, self.name)

    @property
    def num_requests(self) -> int:
        """Number of requests, later turns of sessions included."""
        return len(self.requests)

    @cached_property
    def num_sessions(self) -> int:
        """Number of sessions of one or more turns; requests without a session do not count."""
        return len({request.session_id for request in self.requests} - {None})

    @property
    def first_arrival_s(self) -> float:
        """Arrival of the first request, in seconds."""
        return self._arrivals_s[0]

    @property
    def last_arrival_s(self) -> float:
        """Latest arrival that the trace itself gives, in seconds; later turns of a session arrive after it."""
        return self._arrivals_s[-1]

    @cached_property
    def _arrivals_s(self) -> tuple[float, ...]:
        return tuple(request.arrival_s for request in self.requests if request.arrival_s is not None)

    def window(self, start_s: float | None = None, end_s: float | None = None, limit: int | None = None) -> "Trace":
        """Return the requests that arrive in [start_s, end_s), at most `limit` of them.

        A session goes with the arrival of its first turn and is kept whole or not at all: a limit ends before the first
        session that would exceed it. With `start_s` given, arrivals count from there, so that a replay does not wait
        for the window to begin; request ids and lines stay what they were.

        Args:
            start_s: seconds on the trace's clock; None is the beginning, without moving any arrival.
            end_s: seconds on the trace's clock; None is the end.
            limit: requests, later turns included; None is no limit.

        Raises:
            TraceError: a bound is negative, not finite or can hold nothing, or no request is left.
        """
        window = Window(start_s, end_s, limit)
        inside = window.select(self.requests)
        if not inside:
            span = f"its {self.num_requests} requests arrive from {self.first_arrival_s} s to {self.last_arrival_s} s"
            raise TraceError(f"no whole session or request of {self.name} lies in the window ({window}): {span}")
        origin_s = to_seconds(start_s or 0.0, 1)
        moved = tuple(_counted_from(origin_s, request) for request in inside)
        origin = "" if start_s is None else f"; times count from {start_s:.10g} s on"
        notice = f"Window ({window}): {len(inside)} of {self.num_requests} requests kept{origin}."
        return replace(self, requests=moved, notices=(*self.notices, notice))

    def scaled(self, rate_scale: float) -> "Trace":
        """Return the trace at `rate_scale` times its request rate: arrivals are divided by it, delays stay.

        Raises:
            TraceError: `rate_scale` is not a number above 0, or so small that the trace becomes too long.
        """
        if not (math.isfinite(rate_scale) and rate_scale > 0):
            raise TraceError(f"the rate scale is {rate_scale}, but it must be a number above 0")
        if rate_scale == 1:
            return self
        if self.last_arrival_s / rate_scale > MAX_TIME_S:
            raise TraceError(f"a rate scale of {rate_scale} stretches {self.name} beyond {MAX_TIME_S} s (48.5 days)")
        scaled = (_sped_up(request, rate_scale) for request in self.requests)
        notice = f"Rate scaled by {rate_scale:g}: arrivals divided by it, delays inside sessions kept."
        # Arrivals that now fall on one instant are ordered by line.
        return replace(self, requests=in_order(scaled), notices=(*self.notices, notice))


def _counted_from(origin_s: float, request: TraceRequest) -> TraceRequest:
    if request.arrival_s is None or origin_s == 0:
        return request
    return replace(request, arrival_s=request.arrival_s - origin_s)


def _sped_up(request: TraceRequest, rate_scale: float) -> TraceRequest:
    if request.arrival_s is None:
        return request
    return replace(request, arrival_s=to_seconds(request.arrival_s / rate_scale, 1))
