"""What load a file makes, so that a wrong time unit or format shows at once."""

from collections.abc import Sequence
from statistics import fmean

from traces.trace_request import TraceRequest

DOUBTFUL_RATE = 1000.0


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
    if rate <= DOUBTFUL_RATE:
        return (notice,)
    return notice, f"A rate of {rate:,.0f} a second is doubtful: check the time unit, and give another if it is wrong."
