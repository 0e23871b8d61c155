"""What load a file makes, so that a wrong time unit or format shows at once."""

from collections.abc import Sequence
from statistics import fmean

from traces.trace_request import TraceRequest

DOUBTFUL_RATE = 1000.0
LOW_RATE = 10 / 3600
"""Ten an hour: with fewer, requests hardly ever meet."""
LONG_SPAN_S = 3600


def load_notice(requests: Sequence[TraceRequest]) -> tuple[str, ...]:
    """Return a sentence with number, span, rate and mean lengths; one of doubt if the rate is that of a wrong unit."""
    if not requests:
        return ()
    arrivals_s = [request.arrival_s for request in requests if request.arrival_s is not None]
    span_s = max(arrivals_s) - min(arrivals_s)
    num_input = fmean(request.input_length for request in requests)
    num_output = fmean(request.output_length for request in requests)
    lengths = f"prompts of {num_input:,.1f} and outputs of {num_output:,.1f} tokens on average"
    if span_s == 0:
        return (f"{len(requests):,} requests, the first turns all at one time; {lengths}.",)
    rate = len(arrivals_s) / span_s
    notice = f"{len(requests):,} requests, first turns over {span_s:,.3f} s, {rate:.4g} a second; {lengths}."
    return notice, *rate_doubt(rate, span_s)


def rate_doubt(rate: float, span_s: float) -> tuple[str, ...]:
    """Return a sentence if the rate of arrivals, a second, over a span in seconds, is that of a wrong unit."""
    if rate > DOUBTFUL_RATE:
        return (
            f"A rate of {rate:,.0f} a second is doubtful: check the time unit, and give another (--time-unit) if it is "
            "wrong.",
        )
    if rate < LOW_RATE and span_s >= LONG_SPAN_S:
        return (
            f"A rate of {rate:.2g} a second over {span_s / 3600:,.0f} h is so low that requests hardly meet: check the "
            "time unit, and give another (--time-unit) if it is wrong.",
        )
    return ()
