"""Cuts idle gaps inside sessions."""

from collections.abc import Sequence
from dataclasses import replace

from traces.time_quantum import to_seconds
from traces.trace_request import TraceRequest


def cap_delays(
    requests: Sequence[TraceRequest], max_delay_s: float | None
) -> tuple[tuple[TraceRequest, ...], tuple[str, ...]]:
    """Cut delays to at most `max_delay_s` seconds; None leaves all as they are.

    Returns:
        The requests, and a sentence about what was cut, if anything was.
    """
    if max_delay_s is None:
        return tuple(requests), ()
    longest_s = to_seconds(max_delay_s, 1)
    long = [request.delay_s for request in requests if request.delay_s is not None and request.delay_s > longest_s]
    capped = tuple(_capped(request, longest_s) for request in requests)
    num_later = sum(request.delay_s is not None for request in requests)
    saved_s = sum(long) - longest_s * len(long)
    cut = f"{len(long):,} of {num_later:,} were cut, by {saved_s:.10g} s in all"
    return capped, (f"Delays inside sessions are at most {max_delay_s:.10g} s: {cut}.",)


def _capped(request: TraceRequest, longest_s: float) -> TraceRequest:
    if request.delay_s is None or request.delay_s <= longest_s:
        return request
    return replace(request, delay_s=longest_s)
