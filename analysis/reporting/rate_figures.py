"""What came, what went and what was lost over time: arrivals, output tokens, prefix hits, preemptions."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from analysis.metrics import prefix_hit_share
from analysis.reporting.chart import Axis, line_chart, top_of
from analysis.reporting.figure import Field, Figure, Row
from analysis.reporting.legends import series_legend
from analysis.reporting.subject import Subject, with_run, without_clock
from analysis.reporting.time_axis import TIME, TimeAxis, value_rows
from analysis.step_columns import Floats
from analysis.time_bins import TimeBins


@dataclass(frozen=True, slots=True, kw_only=True)
class _Quantity:
    """One quantity over time.

    Attributes:
        key: of its figure.
        title: of its figure, without "over time".
        unit: of its values.
        metric: key of its definition.
        shows: what a value is, with a place for the width of a bin.
        values: its value in each bin.
        is_fine: whether bins are those of steps, rather than the wider ones of requests.
        is_of_engine: whether only an engine's own record has it.
    """

    key: str
    title: str
    unit: str
    metric: str
    shows: str
    values: Callable[[Subject, TimeBins], Floats]
    is_fine: bool = False
    is_of_engine: bool = False


class RateFigures:
    """Makes the figures.

    Args:
        subjects: the runs.
        axis: their common time axis.
    """

    def __init__(self, subjects: Sequence[Subject], axis: TimeAxis) -> None:
        self._subjects = subjects
        self._axis = axis

    def throughput(self) -> list[Figure]:
        """Arrivals and output tokens a second."""
        return [self._figure(_ARRIVALS), self._figure(_OUTPUT)]

    def cache(self) -> list[Figure]:
        """Prefix hits and preemptions."""
        return [self._figure(_HITS), self._figure(_PREEMPTIONS)]

    def _figure(self, what: _Quantity) -> Figure:
        width_s = self._axis.width_s if what.is_fine else self._axis.sample_width_s
        rows = [row for subject in self._subjects for row in _rows(what, subject, width_s)]
        shown = [("time", "time (s), middle of the bin"), ("value", what.unit)]
        is_share = what.unit.startswith("%")
        return Figure(
            key=what.key,
            title=f"{what.title} over time ({'%' if is_share else what.unit})",
            shows=what.shows.format(f"{width_s:g} s"),
            metrics=(what.metric,),
            fields=[Field(*pair) for pair in (("series", "run"), *shown)],
            rows=rows,
            spec=line_chart(
                Axis("time", TIME),
                Axis("value", what.unit, top=100 if is_share else top_of(row["value"] for row in rows)),
                [subject.label for subject in self._subjects],
                with_run(shown, self._subjects),
                num_rows=len(rows),
            ),
            legend=series_legend(self._subjects),
            notes=[*without_clock(self._subjects), *_unseen(what, rows, self._subjects), *_all_zero(rows)],
        )


def _rows(what: _Quantity, subject: Subject, width_s: float) -> Iterator[Row]:
    if subject.span is None or (what.is_of_engine and subject.run.observation.by_client):
        return
    bins = TimeBins.of(subject.span, width_s)
    yield from value_rows(subject.label, bins, what.values(subject, bins))


def _arrivals(subject: Subject, bins: TimeBins) -> Floats:
    rates: Floats = bins.sums(subject.columns.requests.arrival_s) / bins.width_s
    return rates


def _tokens(subject: Subject, bins: TimeBins) -> Floats:
    columns = subject.columns
    tokens = columns.emissions.tokens_per_step(len(columns.steps))
    rates: Floats = bins.sums(columns.steps.end_s, tokens) / bins.width_s
    return rates


def _hits(subject: Subject, bins: TimeBins) -> Floats:
    requests = subject.columns.requests
    hits, prompts = (
        bins.sums(requests.first_scheduled_s, tokens) for tokens in (requests.hit_tokens, requests.input_tokens)
    )
    shares = (prefix_hit_share(int(hit), int(prompt)) for hit, prompt in zip(hits, prompts, strict=True))
    return np.array([np.nan if share is None else 100 * share for share in shares])


def _preemptions(subject: Subject, bins: TimeBins) -> Floats:
    return bins.sums(subject.columns.steps.start_s[subject.columns.preemptions.position])


_ARRIVALS = _Quantity(
    key="arrivals",
    title="Arrivals",
    unit="req/s",
    metric="arrival_rate",
    shows="Requests that arrived in a bin of {}, per second of it.",
    values=_arrivals,
)
_OUTPUT = _Quantity(
    key="output-rate",
    title="Output tokens",
    unit="tok/s",
    metric="output_throughput",
    shows="Tokens that appeared in a bin of {}, per second of it; those of requests that did not finish count too.",
    values=_tokens,
    is_fine=True,
)
_HITS = _Quantity(
    key="prefix-hits",
    title="Prefix cache hits",
    unit="% of prompt tokens",
    metric="prefix_hits",
    shows="Share of prompt tokens that were in the prefix cache, of the requests first scheduled in a bin of {}.",
    values=_hits,
    is_of_engine=True,
)
_PREEMPTIONS = _Quantity(
    key="preemptions",
    title="Preemptions",
    unit="preemptions",
    metric="preemptions",
    shows="Preemptions in the steps that start in a bin of {}.",
    values=_preemptions,
    is_fine=True,
    is_of_engine=True,
)


def _unseen(what: _Quantity, rows: Sequence[Row], subjects: Sequence[Subject]) -> Iterator[str]:
    drawn = {row["series"] for row in rows}
    for subject in subjects:
        if what.is_of_engine and subject.run.observation.by_client:
            yield f"{subject.label}: {subject.run.observation.text}"
        elif subject.span is not None and subject.label not in drawn:
            yield f"{subject.label}: no request was scheduled."


def _all_zero(rows: Sequence[Row]) -> Iterator[str]:
    labels = dict.fromkeys(row["series"] for row in rows)
    without = [label for label in labels if not any(row["value"] for row in rows if row["series"] == label)]
    if without:
        yield f"There are none in {', '.join(without)}."
