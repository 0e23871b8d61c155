"""The verdict in sentences: status with its numbers, what requests waited for, and what else spoils the run."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from analysis.admission import Hold
from analysis.verdict import MIN_STEPS, MIN_WAITING_SHARE

Values = Mapping[str, Any]


def verdict_text(summary: Values) -> str:
    """Puts a verdict into words.

    Args:
        summary: as `analysis.summary.summarise` makes it; the text of its verdict is not read.
    """
    verdict = summary["verdict"]
    return " ".join([_status(verdict), *_waiting(verdict), *_reservations(summary)])


def _status(verdict: Values) -> str:
    if verdict["num_arrivals"] == 0:
        return "Idle: no request arrived."
    if verdict["status"] == "too short":
        return _too_short(verdict)
    if verdict["status"] == "idle":
        busy = "" if verdict["busy_share"] is None else f", and steps fill {verdict['busy_share']:.0%} of the time"
        return f"Idle: {_arriving(verdict)}{busy}."
    rates = f"{_arriving(verdict)} and {_rate(verdict['finishes_per_s'])} finish meanwhile"
    if verdict["status"] == "falls behind":
        growth = f"the backlog grows by {_rate(verdict['backlog_growth_per_min'])} requests/min"
        return f"Falls behind: {rates}; {growth}{_sustained(verdict)}."
    return f"Keeps up: {rates}{_left(verdict)}."


def _too_short(verdict: Values) -> str:
    num, span_s = verdict["num_arrivals"], verdict["arrival_span_s"]
    came = f"{num:,} requests came within {span_s:.3g} s"
    if verdict["backlog_growth_per_min"] is None:
        return f"Too short to judge: {came}, in fewer than {MIN_STEPS} steps{_sustained(verdict)}."
    quickest = f"one takes {verdict['quickest_s']:.3g} s even on an empty engine"
    return f"Too short to settle: {came}, but {quickest}; a longer trace would tell."


def _arriving(verdict: Values) -> str:
    rate = verdict["arrivals_per_s"]
    return "no rate" if rate is None else f"{_rate(rate)} req/s arrive"


def _left(verdict: Values) -> str:
    """What was still to do, if it is too much for what finished to look like what arrived."""
    num_left, num_arrivals = verdict["num_unfinished"], verdict["num_arrivals"]
    if num_left <= 2 * np.sqrt(num_arrivals):
        return ""
    return f"; {num_left:,} were unfinished when the last came, without growing steadily"


def _sustained(verdict: Values) -> str:
    rate = verdict["sustained_per_s"]
    return "" if rate is None else f"; at least {_rate(rate)} req/s would be sustained"


def _waiting(verdict: Values) -> Iterator[str]:
    shares = sorted(((share, name) for name, share in verdict["limit_shares"].items()), reverse=True)
    total = sum(share for share, _ in shares)
    if total >= MIN_WAITING_SHARE:
        (_, first), *others = shares
        rest = [f", {share:.0%} for {_limit(verdict, name)}" for share, name in others if share >= MIN_WAITING_SHARE]
        most = "most " if rest else ""
        yield f"Requests waited {total:.0%} of the time, {most}for {_limit(verdict, first)}{''.join(rest)}."
    if verdict["status"] == "falls behind" and total < 0.5:
        yield "Most of the backlog runs at once, each request more slowly."


def _limit(verdict: Values, name: str) -> str:
    hold, size = Hold[name.upper()], verdict["limits"][name]
    return f"{hold.label} ({hold.flag}{'' if size is None else f' {size}'})"


def _reservations(summary: Values) -> Iterator[str]:
    verdict = summary["verdict"]
    num_arrivals = verdict["num_arrivals"]
    but = "But " if verdict["status"] in ("keeps up", "idle") else ""
    if summary["failed"]:
        yield f"{but}{_of(summary['failed'], num_arrivals)} failed."
    if summary["slo"] and num_arrivals:
        num_missed = round((1 - summary["slo_attainment"]) * num_arrivals)
        if num_missed:
            yield f"{but}{_of(num_missed, num_arrivals)} missed the objectives."
    if not summary["complete"]:
        yield "The run was stopped before its end and is judged up to there."


def _of(num: int, num_arrivals: int) -> str:
    return f"{num:,} of {num_arrivals:,} requests ({num / max(num_arrivals, 1):.1%})"


def _rate(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
