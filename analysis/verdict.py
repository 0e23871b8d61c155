"""Whether the engine keeps up with the arrivals, and what bounds it.

Judged over the arrival span, first to last arrival:

* *idle*: a step was under way in less than 10 % of the span, or nothing ran at all;
* *falls behind*: unfinished requests, waiting or running, pile up (`analysis.backlog`): an engine that takes all of
  them in and serves each ever more slowly falls behind just as one that lets them wait;
* *too short*: fewer than 20 steps ended in the span; or running requests pile up but waiting ones do not, and a request
  takes more than half the span even at the pace of the quickest tenth of the steps, so that no state could settle;
* *keeps up*: otherwise.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from analysis import metrics
from analysis.admission import AdmissionLimits
from analysis.backlog import growth_per_min
from analysis.metrics import Span
from analysis.request_columns import RequestColumns
from analysis.run_columns import RunColumns
from analysis.step_columns import StepColumns
from analysis.sustained import sustained_per_s
from analysis.waiting_shares import waiting_shares

Status = Literal["keeps up", "falls behind", "idle", "too short"]

MIN_STEPS = 20
MIN_BUSY_SHARE = 0.1
MIN_WAITING_SHARE = 0.01
"""Below it, waiting is not worth a word."""
MIN_FULL_SHARE = 0.5
"""From it on, waiting shows that an engine is full, whenever the requests came."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Whether the engine keeps up. Made by `judge`; `analysis.verdict_text` puts it into words.

    Attributes:
        status: as the module says.
        num_arrivals: requests that arrived.
        arrival_span_s: first to last arrival, as far as the run got; None if nothing arrived.
        arrivals_per_s: their rate over the arrival span; None if it has no length.
        finishes_per_s: requests that finished within the arrival span, per second of it; None if it has no length.
        num_unfinished: requests that had not ended when the last one arrived.
        busy_share: share of the arrival span in which a step was under way; None if it has no length.
        backlog_growth_per_min: growth of the low marks of unfinished requests, a minute; None if they do not pile up.
        quickest_s: time that a request of mean output takes at the pace of the quickest tenth of the steps; None if
            there were no steps.
        sustained_per_s: requests of the run's mean size that the engine can finish a second, at least
            (`analysis.sustained`). None unless the engine falls behind, or works off requests that came all at once.
        limited_by: what requests waited for longest: "tokens", "sequences" or "kv_blocks"; None if waiting filled less
            than 1 % of the time.
        limit_shares: for each of the three, the share of the arrival span in which requests waited for it; of the time
            with a step under way if fewer than 20 steps ended in the span.
        limits: the size of each of the three; None where unknown.
    """

    status: Status
    num_arrivals: int
    arrival_span_s: float | None
    arrivals_per_s: float | None
    finishes_per_s: float | None
    num_unfinished: int
    busy_share: float | None
    backlog_growth_per_min: float | None
    quickest_s: float | None
    sustained_per_s: float | None
    limited_by: str | None
    limit_shares: Mapping[str, float]
    limits: Mapping[str, int | None]

    def as_dict(self) -> dict[str, Any]:
        """Returns its values, for `summary.json`."""
        return asdict(self)


def judge(columns: RunColumns, admission: AdmissionLimits, *, is_complete: bool) -> Verdict:
    """Judges a run.

    Args:
        columns: the run.
        admission: what bounds its queue.
        is_complete: whether the run came to its end.
    """
    requests, steps = columns.requests, columns.steps
    span = _observed_span(columns)
    is_long = span is not None and _num_steps_ended(steps, span) >= MIN_STEPS
    num_arrivals = int(requests.is_injected.sum())
    growth, queue_growth = (
        growth_per_min(counts, steps, span, num_arrivals) if span is not None and is_long else None
        for counts in (steps.num_waiting + steps.num_running, steps.num_waiting)
    )
    quickest_s = _quickest_s(requests, steps)
    seen = metrics.whole_span(requests) if is_complete else span
    shares = waiting_shares(steps, admission.holds(columns), span if is_long else None)
    status = _status(steps, span, growth, queue_growth, quickest_s)
    return Verdict(
        status=status,
        num_arrivals=num_arrivals,
        arrival_span_s=None if span is None else span.length_s,
        arrivals_per_s=None if span is None else metrics.rate(num_arrivals, span.length_s),
        finishes_per_s=None if span is None else _finish_rate(requests, span),
        num_unfinished=0 if span is None else num_arrivals - int(metrics.is_inside(requests.finish_s, span).sum()),
        busy_share=None if span is None else _busy_share(steps, span),
        backlog_growth_per_min=growth,
        quickest_s=quickest_s,
        sustained_per_s=sustained_per_s(columns.requests, span, seen) if _is_full(status, is_long, shares) else None,
        limited_by=max(shares, key=shares.__getitem__) if sum(shares.values()) >= MIN_WAITING_SHARE else None,
        limit_shares=shares,
        limits=admission.sizes,
    )


def _observed_span(columns: RunColumns) -> Span | None:
    """The arrival span, as far as the run got."""
    span, end_s = metrics.arrival_span(columns.requests), columns.steps.end_s
    if span is None or not len(end_s):
        return span
    return Span(span.start_s, max(span.start_s, min(span.end_s, float(end_s[-1]))))


def _busy_share(steps: StepColumns, span: Span) -> float | None:
    return metrics.rate(metrics.stepping_s(steps, span), span.length_s)


def _finish_rate(requests: RequestColumns, span: Span) -> float | None:
    num_finished = int((metrics.is_inside(requests.finish_s, span) & requests.is_finished).sum())
    return metrics.rate(num_finished, span.length_s)


def _num_steps_ended(steps: StepColumns, span: Span) -> int:
    return int(metrics.is_inside(steps.end_s, span).sum())


def _quickest_s(requests: RequestColumns, steps: StepColumns) -> float | None:
    """A step gives a request one token."""
    num_tokens = requests.output_tokens[requests.is_injected]
    if not len(steps) or not len(num_tokens):
        return None
    return float(num_tokens.mean() * np.quantile(steps.duration_s, 0.1))


def _status(
    steps: StepColumns,
    span: Span | None,
    growth: float | None,
    queue_growth: float | None,
    quickest_s: float | None,
) -> Status:
    if span is None or not len(steps):
        return "idle"
    busy_share = _busy_share(steps, span)
    if busy_share is not None and busy_share < MIN_BUSY_SHARE:
        return "idle"
    if _num_steps_ended(steps, span) < MIN_STEPS:
        return "too short"
    if growth is None:
        return "keeps up"
    is_unsettled = queue_growth is None and quickest_s is not None and quickest_s > span.length_s / 2
    return "too short" if is_unsettled else "falls behind"


def _is_full(status: Status, is_long: bool, shares: Mapping[str, float]) -> bool:
    """Whether what finishes says what the engine can do, rather than what came."""
    return status == "falls behind" or (not is_long and sum(shares.values()) >= MIN_FULL_SHARE)
