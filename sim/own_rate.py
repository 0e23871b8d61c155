"""What to do instead of giving a request rate to a trace that has times of its own."""

from traces import Trace


def own_rate_sentence(trace: Trace, request_rate: float) -> str | None:
    """A sentence with the trace's mean rate and the factor for the rate that is wanted; None if it has no mean rate.

    Args:
        trace: as recorded, cut to its window.
        request_rate: wanted arrivals a second.
    """
    arrivals_s = [request.arrival_s for request in trace.requests if request.arrival_s is not None]
    span_s = max(arrivals_s) - min(arrivals_s)
    if span_s == 0:
        return None
    own_rate = len(arrivals_s) / span_s
    factor = f"{request_rate / own_rate:.4g}"
    return (
        f"request rate is {request_rate:g} a second, but {trace.name} has times of its own, {own_rate:.4g} a second on "
        f"average; --rate-scale {factor} in its place (in a sweep --rates {factor}) makes that {request_rate:g}."
    )
