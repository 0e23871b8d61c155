"""Latencies over time, by arrival."""

from collections.abc import Iterator, Sequence

import numpy as np

from analysis.reporting.chart import Axis, is_log, line_chart, with_limit
from analysis.reporting.figure import Field, Figure, Row
from analysis.reporting.legends import series_legend
from analysis.reporting.subject import Subject, with_run, without_clock
from analysis.reporting.time_axis import TimeAxis, value_rows
from analysis.time_bins import TimeBins, percentiles

STATISTICS = (("median", 50), ("p99", 99))
_TIME = "arrival, time since the first one (s)"


class LatencyFigures:
    """Makes the figures.

    Args:
        subjects: the runs.
        axis: their common time axis.
    """

    def __init__(self, subjects: Sequence[Subject], axis: TimeAxis) -> None:
        self._subjects = subjects
        self._axis = axis

    def figures(self) -> list[Figure]:
        """TTFT, TPOT and E2E."""
        return [self._figure("ttft", "TTFT"), self._figure("tpot", "TPOT"), self._figure("e2e", "E2E")]

    def _figure(self, metric: str, name: str) -> Figure:
        width_s = self._axis.sample_width_s
        rows = [row for subject in self._subjects for row in self._rows(metric, subject, width_s)]
        shown = [("statistic", "statistic"), ("time", "arrival (s)"), ("value", f"{name} (ms)"), ("count", "requests")]
        names = tuple(statistic for statistic, _ in STATISTICS)
        spec = line_chart(
            Axis("time", _TIME),
            Axis("value", f"{name} (ms)", is_log=is_log(row["value"] for row in rows)),
            [subject.label for subject in self._subjects],
            with_run(shown, self._subjects),
            num_rows=len(rows),
            statistics=names,
        )
        for limit in self._limits(metric) if rows else ():
            spec = with_limit(spec, "y", limit, f"limit {limit:g} ms")
        return Figure(
            key=f"time-{metric}",
            title=f"{name} over time (ms)",
            shows=f"Of the finished requests that arrived in a bin of {width_s:g} s: median and 99th percentile, which "
            "for few requests is close to the largest value.",
            metrics=(metric, "percentile"),
            fields=[Field(*pair) for pair in (("series", "run"), *shown)],
            rows=rows,
            spec=spec,
            legend=series_legend(self._subjects, *names),
            notes=[*without_clock(self._subjects), *_without_latency(rows, self._subjects)],
        )

    def _rows(self, metric: str, subject: Subject, width_s: float) -> Iterator[Row]:
        if subject.span is None:
            return
        bins, requests = TimeBins.of(subject.span, width_s), subject.columns.requests
        is_finished = requests.is_finished
        samples = bins.samples(requests.arrival_s[is_finished], subject.columns.latencies()[metric][is_finished])
        counts = np.array([sample.size for sample in samples], np.float64)
        for name, percent in STATISTICS:
            for row in value_rows(subject.label, bins, 1000 * percentiles(samples, percent), count=counts):
                yield {**row, "statistic": name}

    def _limits(self, metric: str) -> list[float]:
        return sorted({subject.limits_ms[metric] for subject in self._subjects if metric in subject.limits_ms})


def _without_latency(rows: Sequence[Row], subjects: Sequence[Subject]) -> Iterator[str]:
    known = {row["series"] for row in rows}
    for subject in subjects:
        if subject.label not in known and subject.span is not None:
            yield f"{subject.label}: no finished request has this latency."
