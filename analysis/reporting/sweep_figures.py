"""How configurations answer to load: latency against rate, throughput against latency, per GPU against per user."""

from collections.abc import Iterator, Sequence
from typing import Any

from analysis.load_curve import Row as CurveRow
from analysis.metrics import rate
from analysis.pareto import pareto_efficient
from analysis.reporting.chart import Axis, is_log, line_chart, with_limit
from analysis.reporting.drawn import drawn
from analysis.reporting.figure import Field, Figure, Row
from analysis.reporting.legends import names_legend
from analysis.reporting.sweep_subject import SweepSubject

_STATISTICS = ("median", "p99")
_RATE = ("rate", "arrival rate (req/s)")


class SweepFigures:
    """Makes the figures of one sweep.

    Args:
        sweep: the sweep.
        key: begins the keys of its figures.
    """

    def __init__(self, sweep: SweepSubject, key: str) -> None:
        self._sweep = sweep
        self._key = key
        self._names = sweep.names
        self._rows = [(name, row) for name, curve in zip(self._names, sweep.curves, strict=True) for row in curve.rows]

    def figures(self) -> list[Figure]:
        """Makes them."""
        return [
            self._latency_by_rate("ttft", "TTFT"),
            self._latency_by_rate("tpot", "TPOT"),
            self._latency_by_rate("e2el", "E2E"),
            self._attainment(),
            self._throughput_by_latency("ttft", "TTFT"),
            self._throughput_by_latency("tpot", "TPOT"),
            self._pareto(),
        ]

    def _latency_by_rate(self, metric: str, name: str) -> Figure:
        value = ("value", f"{name} (ms)")
        rows = [
            {**self._point(series, row), "statistic": statistic, "value": drawn(row[f"{statistic}_{metric}_ms"])}
            for statistic in _STATISTICS
            for series, row in self._rows
        ]
        return self._figure(
            key=f"rate-{metric}",
            title=f"{name} against arrival rate (ms)",
            shows="A point for each run: median (solid) and 99th percentile (dashed) against the arrivals a second.",
            metrics=(metric.removesuffix("l"), "arrival_rate"),
            rows=[row for row in rows if row["value"] is not None and row["rate"] is not None],
            x=Axis(*_RATE),
            y=Axis(*value, is_log=is_log(row["value"] for row in rows)),
            shown=(("statistic", "statistic"), _RATE, value, ("verdict", "verdict")),
            statistics=_STATISTICS,
            limit=("y", self._limit(metric.removesuffix("l"))),
        )

    def _attainment(self) -> Figure:
        value = ("value", "SLO attainment (%)")
        shares = [(self._point(series, row), row["slo_attainment"]) for series, row in self._rows]
        return self._figure(
            key="rate-attainment",
            title="SLO attainment against arrival rate (%)",
            shows="A point for each run: share of the requests that arrived which finished within every limit"
            f"{self._limits()}; enough is {100 * self._sweep.record.attainment:.4g} %.",
            metrics=("slo_attainment", "highest_in_slo"),
            rows=[{**point, "value": drawn(100 * share)} for point, share in shares if share is not None],
            x=Axis(*_RATE),
            y=Axis(*value, top=100),
            shown=(_RATE, value, ("verdict", "verdict")),
            limit=("y", (100 * self._sweep.record.attainment, "enough")),
            empty="The sweep has no limits: give some with --slo ttft=500ms,tpot=50ms.",
        )

    def _throughput_by_latency(self, metric: str, name: str) -> Figure:
        x, y = ("value", f"p99 {name} (ms)"), ("throughput", "output tokens (tok/s)")
        rows = [
            {
                **self._point(series, row),
                "value": drawn(row[f"p99_{metric}_ms"]),
                "throughput": drawn(row["output_throughput"]),
            }
            for series, row in self._rows
        ]
        return self._figure(
            key=f"throughput-{metric}",
            title=f"Throughput against p99 {name} (tok/s)",
            shows="A point for each run, joined in order of arrival rate: output tokens a second against the 99th "
            f"percentile of {name}. Up and to the left is better.",
            metrics=("output_throughput", metric),
            rows=[row for row in rows if row["value"] is not None and row["throughput"] is not None],
            x=Axis(*x, is_log=is_log(row["value"] for row in rows), has_zero=False),
            y=Axis(*y),
            shown=(_RATE, x, y, ("verdict", "verdict")),
            limit=("x", self._limit(metric)),
            order="rate",
        )

    def _pareto(self) -> Figure:
        x, y = ("user", "interactivity (tok/s/user)"), ("gpu", "throughput per GPU (tok/s/GPU)")
        rows = list(self._pareto_rows())
        is_efficient = pareto_efficient([(row["user"], row["gpu"]) for row in rows])
        rows = [{**row, "efficient": "yes" if good else "no"} for row, good in zip(rows, is_efficient, strict=True)]
        return self._figure(
            key="pareto",
            title="Throughput per GPU against interactivity (tok/s/GPU)",
            shows="A point for each run, joined in order of arrival rate: output tokens a second and GPU against 1 / "
            "median TPOT. Points in a ring are efficient: no other run is better in both. Up and right is better.",
            metrics=("throughput_per_gpu", "interactivity"),
            rows=rows,
            x=Axis(*x),
            y=Axis(*y),
            shown=(_RATE, x, y, ("efficient", "efficient"), ("verdict", "verdict")),
            order="rate",
            ring="efficient",
            empty="No run says how many GPUs it had and has a TPOT.",
        )

    def _pareto_rows(self) -> Iterator[Row]:
        for series, row in self._rows:
            num_gpus, tpot_ms, throughput = (
                self._sweep.num_gpus(row["run"]),
                row["median_tpot_ms"],
                row["output_throughput"],
            )
            user = None if tpot_ms is None else rate(1000, tpot_ms)
            if num_gpus is not None and user is not None and throughput is not None:
                yield {**self._point(series, row), "user": drawn(user), "gpu": drawn(rate(throughput, num_gpus))}

    def _point(self, series: str, row: CurveRow) -> dict[str, Any]:
        return {"series": series, "rate": drawn(row["arrivals_per_s"]), "verdict": row["verdict"]}

    def _figure(
        self,
        *,
        key: str,
        title: str,
        shows: str,
        metrics: Sequence[str],
        rows: Sequence[Row],
        x: Axis,
        y: Axis,
        shown: Sequence[tuple[str, str]],
        statistics: Sequence[str] = (),
        limit: tuple[str, tuple[float, str] | None] | None = None,
        order: str | None = None,
        ring: str | None = None,
        empty: str = "No run has these values.",
    ) -> Figure:
        several = [("series", "configuration")] if len(self._names) > 1 else []
        spec = line_chart(
            x, y, self._names, [*several, *shown], num_rows=0, statistics=statistics, order=order, ring=ring
        )
        if limit is not None and limit[1] is not None and rows:
            spec = with_limit(spec, limit[0], *limit[1])
        fields = dict([("series", "configuration"), ("rate", "arrival rate (req/s)"), *shown])
        return Figure(
            key=f"{self._key}-{key}",
            title=title,
            shows=shows,
            metrics=metrics,
            fields=[Field(*pair) for pair in fields.items()],
            rows=rows,
            spec=spec,
            legend=names_legend(self._names if several else [], *statistics),
            notes=[] if rows else [empty],
        )

    def _limit(self, metric: str) -> tuple[float, str] | None:
        """The limit of a metric in milliseconds, if there is one, and its name."""
        limit_s = self._sweep.slo.limits_s.get(metric) if self._sweep.slo else None
        return None if limit_s is None else (1000 * limit_s, f"limit {1000 * limit_s:g} ms")

    def _limits(self) -> str:
        limits_s = self._sweep.slo.limits_s if self._sweep.slo else {}
        texts = [f"{name.upper()} {1000 * limit:g} ms" for name, limit in limits_s.items()]
        return f" ({', '.join(texts)})" if texts else ""
