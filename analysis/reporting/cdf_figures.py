"""How latencies are distributed: the share of requests, or of gaps, up to each value."""

from collections.abc import Iterator, Sequence

from analysis.reporting.chart import Axis, is_log, line_chart, with_limit
from analysis.reporting.drawn import drawn
from analysis.reporting.figure import Field, Figure, Row
from analysis.reporting.legends import series_legend
from analysis.reporting.subject import Subject, with_run
from analysis.sample import Sample

PERCENTS = (*map(float, range(99)), *(99 + k / 10 for k in range(10)), 99.99, 100.0)
"""Percentiles through which a line is drawn: all whole ones, from the 99th on every tenth, and the largest value."""
LATENCIES = (("ttft", "TTFT"), ("tpot", "TPOT"), ("itl", "ITL"), ("e2e", "E2E"))


def cdf_figures(subjects: Sequence[Subject]) -> list[Figure]:
    """Makes a figure for each of TTFT, TPOT, ITL and E2E."""
    return [_figure(metric, name, subjects) for metric, name in LATENCIES]


def latency_sample(subject: Subject, metric: str) -> Sample:
    """All values of a latency that the summary's statistics are of, in seconds."""
    columns, is_finished = subject.columns, subject.columns.requests.is_finished
    if metric == "itl":
        return columns.emissions.of_requests(is_finished).gaps_s(columns.steps)
    return Sample.of(columns.latencies()[metric][is_finished])


def _figure(metric: str, name: str, subjects: Sequence[Subject]) -> Figure:
    samples = {subject.label: latency_sample(subject, metric) for subject in subjects}
    rows = [row for label, sample in samples.items() for row in _rows(label, sample)]
    zeros = [row for row in rows if row["value"] == 0]
    positive = [row["value"] for row in rows if row["value"] > 0]
    has_log = is_log(positive)
    x = Axis("value", f"{name} (ms)", is_log=has_log, has_zero=False)
    kept = [row for row in rows if row["value"] > 0] if has_log else rows
    shown = with_run([("value", f"{name} (ms)"), ("percent", "percentile")], subjects)
    spec = line_chart(
        x,
        Axis("percent", "share (%)", top=100),
        list(samples),
        shown,
        num_rows=len(kept),
        has_points=False,
        order="percent",
    )
    for limit in _limits(metric, subjects) if kept else ():
        spec = with_limit(spec, "x", limit, f"limit {limit:g} ms")
    what = "gaps between tokens" if metric == "itl" else "finished requests"
    return Figure(
        key=f"cdf-{metric}",
        title=f"{name}, distribution",
        shows=f"Share of {what} (%) with a value up to the one on the axis (ms); drawn through {len(PERCENTS)} "
        "percentiles.",
        metrics=(metric, "percentile"),
        fields=(Field("series", "run"), Field("percent", "percentile"), Field("value", f"{name} (ms)")),
        rows=kept,
        spec=spec,
        legend=series_legend(subjects),
        notes=[*_missing(samples, metric), *_zeros(zeros if has_log else [])],
    )


def _rows(label: str, sample: Sample) -> Iterator[Row]:
    for percent in PERCENTS if sample.size else ():
        value_s = sample.percentile(percent)
        assert value_s is not None, "the sample is not empty"
        yield {"series": label, "percent": percent, "value": drawn(1000 * value_s)}


def _limits(metric: str, subjects: Sequence[Subject]) -> list[float]:
    return sorted(
        {subject.limits_ms[metric] for subject in subjects if metric in subject.limits_ms and metric != "itl"}
    )


def _missing(samples: dict[str, Sample], metric: str) -> Iterator[str]:
    why = {"tpot": "no finished request has two tokens", "itl": "no finished request has two tokens"}
    for label, sample in samples.items():
        if not sample.size:
            yield f"{label}: {why.get(metric, 'no request finished')}."


def _zeros(zeros: Sequence[Row]) -> Iterator[str]:
    for label in dict.fromkeys(row["series"] for row in zeros):
        share = max(row["percent"] for row in zeros if row["series"] == label)
        yield f"{label}: values up to percentile {share:g} are 0, which has no place on a logarithmic axis."
