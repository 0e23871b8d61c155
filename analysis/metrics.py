"""Every metric of a run, defined once.

The clock of a request starts at its scheduled arrival, so time in the queue counts. Values are seconds, or a rate a
second. Per-request metrics have one entry a request, NaN where undefined; which requests to pool is the caller's choice
(`analysis.summary` pools finished ones).
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from analysis.emissions import Emissions
from analysis.preemptions import Preemptions
from analysis.request_columns import RequestColumns
from analysis.step_columns import Bools, Floats, Ints, StepColumns

Number = TypeVar("Number", np.int64, np.float64)

LATENCIES: Mapping[str, str] = MappingProxyType(
    {
        "ttft": "arrival to first token",
        "tpot": "mean time from token to token after the first; undefined with one token",
        "e2e": "arrival to last token",
        "queue": "arrival to first time scheduled",
        "prefill": "first time scheduled to first token, preempted time taken off",
        "decode": "first to last token, preempted time taken off",
        "preempted": "preempted and not yet resumed; queue + prefill + decode + preempted = e2e",
    }
)
"""Per-request latencies and their meaning; time between tokens (itl) is pooled over tokens instead."""


class Span(NamedTuple):
    """A piece of the run's clock, both ends included.

    Attributes:
        start_s: where it starts.
        end_s: where it ends.
    """

    start_s: float
    end_s: float

    @property
    def length_s(self) -> float:
        """How long it is, in seconds."""
        return self.end_s - self.start_s


class LatencySplit(NamedTuple):
    """Where the time of a request went. What is computed again after a preemption counts to the phase it interrupts.

    Attributes:
        queue_s: arrival to first time scheduled.
        prefill_s: first time scheduled to first token, less preempted time.
        decode_s: first to last token, less preempted time.
        preempted_s: preempted and not yet resumed.
    """

    queue_s: Floats
    prefill_s: Floats
    decode_s: Floats
    preempted_s: Floats


class LevelDifference(NamedTuple):
    """Two levels over one stretch of time, weighted by time; idle time counts as level 0.

    Attributes:
        a: mean of the first.
        b: mean of the second.
        mean_abs: mean of |second - first|.
    """

    a: float
    b: float
    mean_abs: float


def ttft_s(requests: RequestColumns) -> Floats:
    """Time to first token: first token - arrival."""
    return requests.first_token_s - requests.arrival_s


def e2e_s(requests: RequestColumns) -> Floats:
    """End-to-end latency: last token - arrival."""
    return requests.last_token_s - requests.arrival_s


def tpot_s(requests: RequestColumns) -> Floats:
    """Time per output token: (last token - first token) / (output tokens - 1), undefined for one token."""
    num_gaps = requests.output_tokens - 1
    values: Floats = np.full(len(requests), np.nan)
    np.divide(requests.last_token_s - requests.first_token_s, num_gaps, out=values, where=num_gaps > 0)
    return values


def latency_split(requests: RequestColumns, preemptions: Preemptions) -> LatencySplit:
    """Splits end-to-end latency; the four parts sum up to it."""
    in_prefill_s = preemptions.before(requests.first_token_s)
    return LatencySplit(
        queue_s=requests.first_scheduled_s - requests.arrival_s,
        prefill_s=requests.first_token_s - requests.first_scheduled_s - in_prefill_s,
        decode_s=requests.last_token_s - requests.first_token_s - (requests.preempted_s - in_prefill_s),
        preempted_s=requests.preempted_s,
    )


def whole_span(requests: RequestColumns) -> Span | None:
    """First arrival to last end of a request; throughput is measured over it. None if no request ended."""
    if np.isnan(requests.arrival_s).all() or np.isnan(requests.finish_s).all():
        return None
    return Span(float(np.nanmin(requests.arrival_s)), float(np.nanmax(requests.finish_s)))


def arrival_span(requests: RequestColumns) -> Span | None:
    """First to last arrival; None if nothing arrived."""
    if np.isnan(requests.arrival_s).all():
        return None
    return Span(float(np.nanmin(requests.arrival_s)), float(np.nanmax(requests.arrival_s)))


def stamped_span(requests: RequestColumns, steps: StepColumns) -> Span | None:
    """First arrival or step to the last stamp of the run; None if it has no stamp."""
    stamps = np.concatenate([requests.arrival_s, requests.finish_s, steps.start_s[:1], steps.end_s[-1:]])
    stamps = stamps[~np.isnan(stamps)]
    return Span(float(stamps.min()), float(stamps.max())) if len(stamps) else None


def steady_span(requests: RequestColumns, warmup_s: float) -> Span | None:
    """Arrival span without its first `warmup_s` seconds, so without the drain too. None if nothing is left."""
    span = arrival_span(requests)
    if span is None or span.start_s + warmup_s >= span.end_s:
        return None
    return Span(span.start_s + warmup_s, span.end_s)


def is_inside(times_s: Floats, span: Span) -> Bools:
    """Whether each time lies in the span; NaN does not."""
    return (times_s >= span.start_s) & (times_s <= span.end_s)


def rate(amount: float, duration_s: float) -> float | None:
    """Amount a second; None if no time passed."""
    return amount / duration_s if duration_s > 0 else None


def max_output_tokens_per_s(emissions: Emissions, steps: StepColumns, start_s: float) -> float:
    """Most tokens in one of the whole seconds counted from `start_s`."""
    tokens = emissions.tokens_per_step(len(steps))
    if not len(tokens):
        return 0.0
    # Idle hours would make a dense histogram large, so seconds are numbered by rank.
    _, second = np.unique(np.floor(steps.end_s - start_s), return_inverse=True)
    return float(np.bincount(second, tokens).max())


def max_concurrent_requests(requests: RequestColumns) -> int:
    """Most requests between arrival and end at one instant; one that ends makes room for one that arrives just then."""
    arrivals_s = requests.arrival_s[requests.is_injected]
    ends_s = requests.finish_s[requests.is_injected]
    ends_s = np.where(np.isnan(ends_s), np.inf, ends_s)
    times_s = np.concatenate([ends_s, arrivals_s])
    changes = np.repeat([-1, 1], len(arrivals_s))
    level = np.cumsum(changes[np.argsort(times_s, kind="stable")])
    return int(level.max(initial=0))


def time_average(values: NDArray[np.int64] | Floats, steps: StepColumns) -> float | None:
    """Mean over the time in which the engine was stepping: weighted by step duration. None if that is no time."""
    total_s = steps.duration_s.sum()
    return float((values * steps.duration_s).sum() / total_s) if total_s > 0 else None


def level_difference(
    a_values: NDArray[np.int64], a: StepColumns, b_values: NDArray[np.int64], b: StepColumns
) -> LevelDifference | None:
    """Compares a value of two runs over the time from the first start of a step to the last end, on one clock.

    A value holds while its step is under way; between steps the level is 0. None if no step took time.

        a        |---2---|---3---|          |--1--|
        b            |----2----|-----1-----|
        |b - a|  | 2 | 0 |  1  |2|     1    |  1  |
    """
    (a_edges_s, a_levels), (b_edges_s, b_levels) = levels(a_values, a), levels(b_values, b)
    edges_s = np.unique(np.concatenate([a_edges_s, b_edges_s]))
    lengths_s = np.diff(edges_s)
    total_s = float(lengths_s.sum())
    if total_s <= 0:
        return None
    first, second = (
        own[np.searchsorted(own_s, edges_s[:-1], side="right")]
        for own_s, own in ((a_edges_s, a_levels), (b_edges_s, b_levels))
    )
    means = [float((level * lengths_s).sum()) / total_s for level in (first, second, np.abs(second - first))]
    return LevelDifference(*means)


def levels(values: NDArray[Number], steps: StepColumns) -> tuple[Floats, NDArray[Number]]:
    """Turns a value of each step into a level over time: it holds while its step is under way, and is 0 between steps.

    Returns:
        Edges in order, start and end of each step; and the level before the first and behind each of them.
    """
    edges_s = np.column_stack([steps.start_s, steps.end_s]).ravel()
    behind = np.column_stack([values, np.zeros_like(values)]).ravel()
    # Stamps of other engines may overlap by a rounding error.
    return np.maximum.accumulate(edges_s), np.concatenate([np.zeros(1, values.dtype), behind])


def kv_usage(steps: StepColumns, num_kv_blocks: int) -> Floats:
    """Share of KV blocks in use at each step, 0 to 1."""
    return steps.num_used_blocks / num_kv_blocks


def prefix_hit_share(hit_tokens: int, prompt_tokens: int) -> float | None:
    """Share of prompt tokens that were in the prefix cache; None without prompt tokens."""
    return hit_tokens / prompt_tokens if prompt_tokens else None


def stepping_s(steps: StepColumns, span: Span) -> float:
    """Time within the span in which a step was under way."""
    inside_s = np.minimum(steps.end_s, span.end_s) - np.maximum(steps.start_s, span.start_s)
    return float(np.maximum(inside_s, 0.0).sum())


def tokens_inside(emissions: Emissions, steps: StepColumns, span: Span) -> int:
    """Tokens that appeared within the span."""
    tokens: Ints = emissions.tokens_per_step(len(steps))
    return int(tokens[is_inside(steps.end_s, span)].sum())
