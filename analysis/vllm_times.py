"""When the chunks of a benchmark's requests came, on one clock."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from analysis.errors import RunError
from analysis.vllm_result import VllmRequest, VllmResult
from traces.time_quantum import MAX_TIME_S, to_seconds

Chunks = tuple[tuple[float, int], ...]


@dataclass(frozen=True, slots=True)
class RequestTimes:
    """Times of one request, in seconds as multiples of 2**-30, so that sums are exact.

    Attributes:
        arrival_s: when it should have been sent; None if not known.
        submit_s: when it was sent; None if not known.
        first_s: when its first chunk came; None if it failed.
        last_s: when its last chunk came; None if it failed.
        end_s: when it ended or, if it failed, was last heard of; None if it was not sent.
        chunks: when its tokens came, and how many at once; nothing of a request that failed.
    """

    arrival_s: float | None
    submit_s: float | None
    first_s: float | None
    last_s: float | None
    end_s: float | None
    chunks: Chunks


def request_times(result: VllmResult, name: str) -> list[RequestTimes]:
    """Puts all requests on one clock that begins with the first arrival.

    Without recorded times the clock of each request begins with itself, which is right for all that were sent at once.

    Args:
        result: the benchmark.
        name: of its file, for errors.

    Raises:
        RunError: a time is too far from the first.
    """
    starts = [_start(request, result) for request in result.requests]
    arrivals = [_minus(start_s, request.queue_s) for start_s, request in zip(starts, result.requests, strict=True)]
    origin_s = min((each for each in arrivals if each is not None), default=0.0)
    times = [
        _times(request, start_s, arrival_s, origin_s)
        for request, start_s, arrival_s in zip(result.requests, starts, arrivals, strict=True)
    ]
    latest_s = max((each.end_s for each in times if each.end_s is not None), default=0.0)
    if latest_s > MAX_TIME_S:
        raise RunError(
            f"{name}: a request ends {latest_s:.0f} s after the first was sent; at most {MAX_TIME_S} s are read."
        )
    return times


def spread_tokens(times_s: Sequence[float], num_tokens: int) -> Chunks:
    """Says how many tokens came with each chunk, as far as their numbers tell.

    As many tokens as chunks: one each. More tokens: one with the first chunk, the others spread evenly over the rest.
    Fewer tokens: the first and the last chunk have one each, and of those between as many as are left, evenly.
    """
    num_chunks = len(times_s)
    if num_tokens <= num_chunks:
        places = np.linspace(0, num_chunks - 1, num_tokens).round().astype(int).tolist()
        return tuple((times_s[place], 1) for place in places)
    if num_chunks == 1:
        return ((times_s[0], num_tokens),)
    edges = np.linspace(1, num_tokens, num_chunks).round().astype(int)
    return ((times_s[0], 1), *zip(times_s[1:], np.diff(edges).tolist(), strict=True))


def _start(request: VllmRequest, result: VllmResult) -> float | None:
    return request.start_s if result.has_start_times else request.queue_s


def _minus(start_s: float | None, queue_s: float) -> float | None:
    return None if start_s is None else start_s - queue_s


def _times(request: VllmRequest, start_s: float | None, arrival_s: float | None, origin_s: float) -> RequestTimes:
    submit_s = None if start_s is None else to_seconds(start_s - origin_s, 1)
    arrival_s = None if arrival_s is None else to_seconds(arrival_s - origin_s, 1)
    if submit_s is None:
        return RequestTimes(arrival_s, None, None, None, None, ())
    chunks_s = [submit_s + to_seconds(gap_s, 1) for gap_s in accumulate((request.ttft_s, *request.itls_s))]
    if request.error is not None:
        return RequestTimes(arrival_s, submit_s, None, None, chunks_s[-1], ())
    chunks = spread_tokens(chunks_s, request.output_tokens)
    return RequestTimes(arrival_s, submit_s, chunks_s[0], chunks_s[-1], chunks_s[-1], chunks)
