"""Requests as bars over time, cut into phases."""

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow.compute as pc

from analysis.arrow_values import to_numpy
from analysis.phases import Phase, Phases
from analysis.reporting.chart import Axis, Spec, tooltip
from analysis.reporting.colours import PHASE_COLOURS
from analysis.reporting.drawn import drawn
from analysis.reporting.figure import Field, Figure, Row
from analysis.reporting.legends import phase_legend
from analysis.reporting.subject import Subject
from analysis.reporting.time_axis import TIME
from analysis.run_differences import have_one_trace
from analysis.step_columns import Ints

MAX_REQUESTS = 60
_ROW_HEIGHT = 9
_NAMED_ROW_HEIGHT = 14
_MAX_NAMED = 40


class GanttFigures:
    """Makes a figure for each run.

    Args:
        subjects: the runs; those with the trace of the first show its requests.
    """

    def __init__(self, subjects: Sequence[Subject]) -> None:
        self._subjects = subjects

    def figures(self) -> list[Figure]:
        """Makes them."""
        chosen = [self._chosen(subject) for subject in self._subjects]
        rows = [list(_rows(subject, own)) for subject, (own, _) in zip(self._subjects, chosen, strict=True)]
        is_like_first = [k == 0 or self._is_of_first_trace(subject) for k, subject in enumerate(self._subjects)]
        common = _time_range([row for own, like in zip(rows, is_like_first, strict=True) if like for row in own])
        return [
            self._figure(k, chosen[k][1], rows[k], common if is_like_first[k] else _time_range(rows[k]))
            for k in range(len(self._subjects))
        ]

    def _is_of_first_trace(self, subject: Subject) -> bool:
        first = self._subjects[0]
        return have_one_trace(first.run, subject.run) and first.span is not None

    def _figure(self, number: int, rule: str, rows: Sequence[Row], time_range: Sequence[float]) -> Figure:
        subject = self._subjects[number]
        names = list(dict.fromkeys(row["request"] for row in rows))
        of_run = f" of {subject.label}" if len(self._subjects) > 1 else ""
        return Figure(
            key="gantt" if number == 0 else f"gantt-{number + 1}",
            title=f"Requests{of_run} and their phases over time",
            shows=f"A bar for each request, in order of arrival, from its arrival to its end (s). {rule}",
            metrics=("queue", "prefill", "decode", "preempted"),
            fields=[Field(*pair) for pair in _FIELDS],
            rows=rows,
            spec=_spec(names, time_range),
            legend=phase_legend([row["phase"] for row in rows]),
            notes=list(_missing(subject, rows)),
        )

    def _chosen(self, subject: Subject) -> tuple[Ints, str]:
        """Rows of requests in order of arrival, and the rule by which they were chosen."""
        first = self._subjects[0]
        if subject is not first and self._is_of_first_trace(subject):
            chosen = _same_requests(first, _window(first), subject)
            if len(chosen):
                return chosen, f"The requests are those shown of {first.label}."
        chosen = _window(subject)
        num = int(subject.columns.requests.is_injected.sum())
        if len(chosen) == num:
            return chosen, f"All {num:,} requests that arrived are shown." if num > 1 else "It is all that arrived."
        return chosen, (
            f"Shown are {len(chosen)} of the {num:,} requests that arrived: those {len(chosen)} consecutive arrivals "
            "that were queued or preempted longest, summed up."
        )


_FIELDS = (
    ("request", "request"),
    ("phase", "phase"),
    ("start", "start (s)"),
    ("end", "end (s)"),
    ("length", "length (ms)"),
)


def _window(subject: Subject) -> Ints:
    """Rows of the consecutive arrivals that waited longest."""
    requests, phases = subject.columns.requests, Phases.of(subject.columns)
    order: Ints = np.argsort(requests.arrival_s, kind="stable")[: int(requests.is_injected.sum())]
    if len(order) <= MAX_REQUESTS:
        return order
    is_waiting = np.isin(phases.phase, (Phase.QUEUE, Phase.PREEMPTED))
    lengths_s = (phases.end_s - phases.start_s)[is_waiting]
    waited_s = np.bincount(phases.owner[is_waiting], lengths_s, minlength=len(requests))[order]
    upto_s = np.concatenate([[0.0], np.cumsum(waited_s)])
    start = int(np.argmax(upto_s[MAX_REQUESTS:] - upto_s[:-MAX_REQUESTS]))
    return order[start : start + MAX_REQUESTS]


def _same_requests(first: Subject, rows: Ints, subject: Subject) -> Ints:
    """Rows of the requests of another run with the same names, in its order of arrival."""
    wanted = first.columns.requests.request_id.take(rows)
    requests = subject.columns.requests
    is_wanted = to_numpy(pc.is_in(requests.request_id, wanted)) & requests.is_injected
    found = np.flatnonzero(is_wanted)
    same: Ints = found[np.argsort(requests.arrival_s[found], kind="stable")]
    return same


def _rows(subject: Subject, chosen: Ints) -> Iterator[Row]:
    span, requests = subject.span, subject.columns.requests
    if span is None:
        return
    phases = Phases.of(subject.columns)
    bounds = np.searchsorted(phases.owner, np.arange(len(requests) + 1))
    for row in map(int, chosen):
        for k in range(bounds[row], bounds[row + 1]):
            start_s, end_s = float(phases.start_s[k]), float(phases.end_s[k])
            yield {
                "request": requests.request_id[row].as_py(),
                "phase": _phase_name(int(phases.phase[k]), subject),
                # Six digits of an hour would be hundredths of a second, longer than a phase may be.
                "start": round(start_s - span.start_s, 6),
                "end": round(end_s - span.start_s, 6),
                "length": drawn(1000 * (end_s - start_s)),
            }


def _phase_name(phase: int, subject: Subject) -> str:
    if phase == Phase.QUEUE and subject.run.observation.by_client:
        return "until first token"
    return Phase(phase).name.lower()


def _time_range(rows: Sequence[Row]) -> list[float]:
    """From the first start to the last end of bars; empty without any."""
    return [min(row["start"] for row in rows), max(row["end"] for row in rows)] if rows else []


def _spec(names: Sequence[str], time_range: Sequence[float]) -> Spec:
    colour = {"domain": list(PHASE_COLOURS), "range": list(PHASE_COLOURS.values())}
    has_names = len(names) <= _MAX_NAMED
    x = Axis("start", TIME, has_zero=False).encoding()
    return {
        "height": len(names) * (_NAMED_ROW_HEIGHT if has_names else _ROW_HEIGHT),
        "mark": {"type": "bar", "aria": False},
        "encoding": {
            "x": {**x, "scale": {**x["scale"], "domain": list(time_range)}} if time_range else x,
            "x2": {"field": "end"},
            "y": {
                "field": "request",
                "type": "nominal",
                "sort": None,  # as they come: names in a list become code, in which not every name can stand
                "title": None if has_names else "requests in order of arrival",
                "axis": {"labels": has_names, "ticks": False, "grid": False, "labelLimit": 90},
            },
            "color": {"field": "phase", "type": "nominal", "scale": colour, "legend": None},
            "tooltip": tooltip(_FIELDS),
        },
    }


def _missing(subject: Subject, rows: Sequence[Row]) -> Iterator[str]:
    if subject.span is None and not subject.run.observation.has_arrivals:
        yield "Arrival times are not known, so requests have no common time."
    elif not rows:
        has_arrived = subject.columns.requests.is_injected.any()
        yield "Every request ended at the instant of its arrival." if has_arrived else "No request arrived."
    elif subject.run.observation.by_client:
        yield "A client cannot tell queueing from prefill."
