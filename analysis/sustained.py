"""What an engine that is full can finish, at least.

Each of these stretches is taken with the requests that both arrived and ended in it, so that no work on them is left
out:

    start          middle        last arrival            last end
      |------------- arrivals -------|--------- drain -------|
      |------------------------------|
                     |---------------|
      |------------------------------------------------------|
                     |---------------------------------------|

Ramp-up or drain are part of it, so the engine can do more, by how much the run does not say. Requests that end early
may be the small ones, under policies that prefer these: requests are counted in ones of the run's mean size, by prompt
tokens or output tokens, whichever are fewer, and at most as many as there are. The highest of the rates is the best
bound.
"""

from collections.abc import Iterator

from analysis import metrics
from analysis.metrics import Span
from analysis.request_columns import RequestColumns


def sustained_per_s(requests: RequestColumns, arrivals: Span | None, seen: Span | None) -> float | None:
    """Requests of mean size a second that were served from arrival to end within one of the stretches; None if none.

    Args:
        requests: of a run whose engine was full.
        arrivals: first to last arrival, as far as the run got; None if nothing arrived.
        seen: first arrival to last end, or for a run that was stopped to the last arrival; None without either.
    """
    rates = [_served_per_s(requests, stretch) for stretch in _stretches(arrivals, seen)]
    return max((rate for rate in rates if rate), default=None)


def _stretches(arrivals: Span | None, seen: Span | None) -> Iterator[Span]:
    if arrivals is None:
        return
    for start_s in (arrivals.start_s, (arrivals.start_s + arrivals.end_s) / 2):
        for whole in (arrivals, seen):
            if whole is not None:
                yield Span(start_s, whole.end_s)


def _served_per_s(requests: RequestColumns, stretch: Span) -> float | None:
    is_finished = requests.is_finished
    is_inside = metrics.is_inside(requests.arrival_s, stretch) & metrics.is_inside(requests.finish_s, stretch)
    is_served = is_finished & is_inside
    sizes = [tokens for tokens in (requests.input_tokens, requests.output_tokens) if tokens[is_finished].any()]
    shares = [float(tokens[is_served].sum() / tokens[is_finished].sum()) for tokens in sizes]
    num_of_mean_size = float(is_finished.sum()) * min(shares, default=0.0)
    return metrics.rate(min(num_of_mean_size, float(is_served.sum())), stretch.length_s)
