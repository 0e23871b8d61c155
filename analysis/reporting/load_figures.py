"""The engine over time: who runs and waits, KV blocks, what batches are made of."""

from collections.abc import Callable, Iterator, Sequence

from analysis import metrics
from analysis.reporting.chart import Axis, line_chart, top_of
from analysis.reporting.figure import Field, Figure, Row
from analysis.reporting.legends import series_legend
from analysis.reporting.subject import Subject, with_run
from analysis.reporting.time_axis import TIME, TimeAxis, extent_rows
from analysis.step_columns import Floats, Ints
from analysis.time_bins import Extent, TimeBins

Values = Callable[[Subject], Ints | Floats]


class LoadFigures:
    """Makes the figures.

    Args:
        subjects: the runs.
        axis: their common time axis.
    """

    def __init__(self, subjects: Sequence[Subject], axis: TimeAxis) -> None:
        self._subjects = subjects
        self._axis = axis

    def levels(self) -> list[Figure]:
        """Running and waiting requests and KV cache use: levels that hold while a step is under way."""
        return [
            self._level("running", "Running requests", "requests", lambda subject: subject.columns.steps.num_running),
            self._level("waiting", "Waiting requests", "requests", lambda subject: subject.columns.steps.num_waiting),
            self._level("kv_usage", "KV cache use", "%", _kv_percent),
        ]

    def batches(self) -> list[Figure]:
        """Prefill and decode tokens of the steps."""
        return [
            self._tokens("prefill", lambda subject: subject.columns.steps.num_prefill_tokens),
            self._tokens("decode", lambda subject: subject.columns.steps.num_decode_tokens),
        ]

    def _level(self, metric: str, title: str, unit: str, values: Values) -> Figure:
        shows = (
            f"Line: mean over bins of {self._axis.width_s:g} s, weighted by time; area: lowest to highest value in the "
            "bin. Time between steps counts as 0."
        )
        return self._figure(metric, title, unit, shows, (metric,), values, TimeBins.level)

    def _tokens(self, kind: str, values: Values) -> Figure:
        shows = (
            f"Line: mean over the steps that start in a bin of {self._axis.width_s:g} s; area: smallest to largest "
            "step. A bin without a step has no value."
        )
        title = f"{kind.capitalize()} tokens in a step"
        return self._figure(f"{kind}-tokens", title, "tokens", shows, ("step_tokens",), values, TimeBins.per_step)

    def _figure(
        self,
        key: str,
        title: str,
        unit: str,
        shows: str,
        definitions: tuple[str, ...],
        values: Values,
        reduce: Callable[..., Extent],
    ) -> Figure:
        rows = [row for subject in self._subjects for row in self._rows(subject, values, reduce)]
        statistics = [("mean", f"mean ({unit})"), ("lowest", f"lowest ({unit})"), ("highest", f"highest ({unit})")]
        top = 100 if unit == "%" else top_of(row["highest"] for row in rows)
        return Figure(
            key=key.replace("_", "-"),
            title=f"{title} over time ({unit})",
            shows=shows,
            metrics=definitions,
            fields=[Field(*pair) for pair in (("series", "run"), ("time", "time (s), middle of the bin"), *statistics)],
            rows=rows,
            spec=line_chart(
                Axis("time", TIME),
                Axis("mean", unit, top=top),
                [subject.label for subject in self._subjects],
                with_run([("time", "time (s)"), *statistics], self._subjects),
                num_rows=len(rows),
                has_band=True,
            ),
            legend=series_legend(self._subjects),
            notes=list(_missing(self._subjects)),
        )

    def _rows(self, subject: Subject, values: Values, reduce: Callable[..., Extent]) -> Iterator[Row]:
        span, steps = subject.span, subject.columns.steps
        if span is None or not len(steps) or subject.run.observation.by_client:
            return
        bins = TimeBins.of(span, self._axis.width_s)
        yield from extent_rows(subject.label, bins, reduce(bins, values(subject), steps))


def _kv_percent(subject: Subject) -> Floats:
    percent: Floats = 100 * metrics.kv_usage(subject.columns.steps, subject.run.meta["num_kv_blocks"])
    return percent


def _missing(subjects: Sequence[Subject]) -> Iterator[str]:
    for subject in subjects:
        if subject.run.observation.by_client:
            yield f"{subject.label}: {subject.run.observation.text}"
        elif not len(subject.columns.steps):
            yield f"{subject.label}: the engine took no step."
