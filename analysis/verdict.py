"""Whether the engine keeps up with the arrivals, and what bounds it.

Judged over the arrival span, first to last arrival:

* *too short*: fewer than 20 steps ended in the span, so there is no rate of arrival to speak of;
* *idle*: a step was under way in less than 10 % of the span, or nothing ran at all;
* *falls behind*: the queue grows and keeps growing. The span is cut into ten equal windows; the low mark of a window is
  the smallest number that waited in it, so a burst that is worked off leaves no mark. The queue grows if the last low
  mark exceeds the second by more than twice the square root of the number of arrivals (chance alone rarely leaves that
  much) and at least three of the last four marks are higher than the mark before (a backlog that once came and stays
  is none that grows);
* *keeps up*: otherwise.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from analysis import metrics
from analysis.admission import Hold
from analysis.metrics import Span
from analysis.request_columns import RequestColumns
from analysis.run_columns import RunColumns
from analysis.step_columns import StepColumns

Status = Literal["keeps up", "falls behind", "idle", "too short"]

NUM_WINDOWS = 10
MIN_STEPS = 20
MIN_BUSY_SHARE = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Whether the engine keeps up. Made by `judge`.

    Attributes:
        status: as the module says.
        num_arrivals: requests that arrived.
        arrivals_per_s: their rate over the arrival span; None if it has no length.
        busy_share: share of the arrival span in which a step was under way; None if it has no length.
        queue_growth_per_min: growth of the low marks from the second window to the last, in requests a minute; None
            unless the engine falls behind.
        sustained_per_s: requests that finished in steps that left others waiting, after the first step in which one
            did, per second of these steps: what the engine does at full load. None if there were none.
        limited_by: what held the queue for the longest time: "tokens", "sequences" or "kv_blocks"; None if no request
            was ever left waiting.
        limit_shares: for each of the three, its share of the time in which requests were left waiting.
    """

    status: Status
    num_arrivals: int
    arrivals_per_s: float | None
    busy_share: float | None
    queue_growth_per_min: float | None
    sustained_per_s: float | None
    limited_by: str | None
    limit_shares: Mapping[str, float]

    def as_dict(self) -> dict[str, Any]:
        """Returns its values, and the sentences, for `summary.json`."""
        return asdict(self) | {"text": self.text}

    @property
    def text(self) -> str:
        """Two sentences for a person: status with its numbers, and what limits."""
        return f"{self._status_sentence()} {self._limit_sentence()}".strip()

    def _status_sentence(self) -> str:
        arriving = "no rate" if self.arrivals_per_s is None else f"{self.arrivals_per_s:.3g} req/s arrive"
        busy = "" if self.busy_share is None else f", and steps fill {self.busy_share:.0%} of the time"
        if self.num_arrivals == 0:
            return "Idle: no request arrived."
        if self.status == "idle":
            return f"Idle: {arriving}{busy}."
        if self.status == "too short":
            return f"Too short to judge: the requests arrived within fewer than {MIN_STEPS} steps{self._sustained()}."
        if self.status == "falls behind":
            growth = f"the queue grows by {self.queue_growth_per_min:.3g} requests/min"
            return f"Falls behind: {arriving}, {growth}{self._sustained()}."
        return f"Keeps up: {arriving}{busy}."

    def _sustained(self) -> str:
        return "" if self.sustained_per_s is None else f"; about {self.sustained_per_s:.3g} req/s would be sustained"

    def _limit_sentence(self) -> str:
        if self.limited_by is None:
            return ""
        shares = sorted(self.limit_shares.items(), key=lambda item: -item[1])
        (first, share), *others = [(Hold[name.upper()].label, share) for name, share in shares if share > 0]
        rest = "".join(f", {label} ({share:.0%})" for label, share in others)
        return f"Limited by {first} ({share:.0%} of the time in which requests waited){rest}."


def judge(columns: RunColumns, holds: NDArray[np.int8]) -> Verdict:
    """Judges a run.

    Args:
        columns: the run.
        holds: `analysis.admission.Hold` of each step.
    """
    requests, steps = columns.requests, columns.steps
    span = _observed_span(columns)
    growth_per_min = None if span is None else _growth_per_min(requests, steps, span)
    limit_shares = _limit_shares(steps, holds)
    num_arrivals = int(requests.is_injected.sum())
    return Verdict(
        status=_status(steps, span, growth_per_min),
        num_arrivals=num_arrivals,
        arrivals_per_s=None if span is None else metrics.rate(num_arrivals, span.length_s),
        busy_share=None if span is None else _busy_share(steps, span),
        queue_growth_per_min=growth_per_min,
        sustained_per_s=_sustained_per_s(requests, steps),
        limited_by=max(limit_shares, key=limit_shares.__getitem__) if any(limit_shares.values()) else None,
        limit_shares=limit_shares,
    )


def _observed_span(columns: RunColumns) -> Span | None:
    """The arrival span, as far as the run got."""
    span, end_s = metrics.arrival_span(columns.requests), columns.steps.end_s
    if span is None or not len(end_s):
        return span
    return Span(span.start_s, max(span.start_s, min(span.end_s, float(end_s[-1]))))


def _busy_share(steps: StepColumns, span: Span) -> float | None:
    return metrics.rate(metrics.stepping_s(steps, span), span.length_s)


def _num_steps_ended(steps: StepColumns, span: Span) -> int:
    return int(metrics.is_inside(steps.end_s, span).sum())


def _status(steps: StepColumns, span: Span | None, growth_per_min: float | None) -> Status:
    if span is None or not len(steps):
        return "idle"
    busy_share = _busy_share(steps, span)
    if busy_share is not None and busy_share < MIN_BUSY_SHARE:
        return "idle"
    if _num_steps_ended(steps, span) < MIN_STEPS:
        return "too short"
    return "keeps up" if growth_per_min is None else "falls behind"


def _growth_per_min(requests: RequestColumns, steps: StepColumns, span: Span) -> float | None:
    """Growth of the queue, or None if it does not grow."""
    if _num_steps_ended(steps, span) < MIN_STEPS:
        return None
    marks = _low_marks(steps, span)
    growth = int(marks[-1] - marks[1])
    num_rises = int((np.diff(marks[-5:]) > 0).sum())
    if num_rises < 3 or growth <= 2 * np.sqrt(requests.is_injected.sum()):
        return None
    return growth / (span.length_s * (NUM_WINDOWS - 2) / NUM_WINDOWS / 60)


def _low_marks(steps: StepColumns, span: Span) -> NDArray[np.int64]:
    """Smallest number waiting in each window; a number holds from the end of its step to the end of the next."""
    waiting = np.concatenate([[0], steps.num_waiting])
    edges = np.linspace(span.start_s, span.end_s, NUM_WINDOWS + 1)
    at = np.searchsorted(steps.end_s, edges, side="right")
    return np.array([waiting[at[k] : at[k + 1] + 1].min() for k in range(NUM_WINDOWS)])


def _sustained_per_s(requests: RequestColumns, steps: StepColumns) -> float | None:
    finish_s = requests.finish_s[requests.is_finished]
    position = np.searchsorted(steps.end_s, finish_s, side="left")
    num_finished = np.bincount(position[position < len(steps)], minlength=len(steps))
    is_loaded = steps.num_waiting > 0
    first = np.flatnonzero(is_loaded & (num_finished > 0))
    if not len(first):
        return None
    is_loaded[: first[0] + 1] = False
    num = int(num_finished[is_loaded].sum())
    return metrics.rate(num, float(steps.duration_s[is_loaded].sum())) if num else None


def _limit_shares(steps: StepColumns, holds: NDArray[np.int8]) -> dict[str, float]:
    held_s = {hold: float(steps.duration_s[holds == hold].sum()) for hold in Hold if hold}
    total_s = sum(held_s.values())
    return {hold.name.lower(): value / total_s if total_s else 0.0 for hold, value in held_s.items()}
