"""The figures of one run, as they lie in `summary.json`.

Where `vllm bench serve` has a figure, its key name is used: existing scripts then work. Latencies, token totals and
throughput are over finished requests, goodput and attainment over all that arrived. None means undefined. Keys that end
in `_ms` are milliseconds, in `_s` seconds.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from analysis import metrics
from analysis.admission import AdmissionLimits
from analysis.arrow_values import to_arrow
from analysis.failure_groups import count_by_reason
from analysis.heading import heading
from analysis.load_shares import load_shares
from analysis.observation import Observation
from analysis.run import Run
from analysis.run_columns import RunColumns
from analysis.sample import Sample
from analysis.slo import Slo
from analysis.step_columns import Bools
from analysis.verdict import judge
from analysis.verdict_text import verdict_text

PERCENTILES = (50, 90, 95, 99)
LATENCY_KEYS = {
    "ttft": "ttft",
    "tpot": "tpot",
    "itl": "itl",
    "e2e": "e2el",
    "queue": "queue",
    "prefill": "prefill",
    "decode": "decode",
    "preempted": "preempted",
}
"""Name in keys of `summary.json` by metric: `mean_e2el_ms` is the mean of `e2e`."""
ENGINE_LATENCIES = ("queue", "prefill", "decode", "preempted")
"""Metrics that only the engine's own record tells."""
ENGINE_KEYS = (
    *("mean_running", "max_running", "mean_waiting", "max_waiting", "mean_kv_usage", "max_kv_usage"),
    *("stepping_share", "device_share", "num_steps", "num_preemptions", "prefix_query_tokens", "prefix_hit_tokens"),
)
"""Figures that only the engine's own record tells."""

Values = dict[str, Any]


def summarise(
    run: Run,
    *,
    complete: bool | None = None,
    wall_s: float | None = None,
    decision_digest: str | None = None,
    slo: Slo | None = None,
    warmup_s: float | None = None,
    columns: RunColumns | None = None,
) -> Values:
    """Computes the summary of a run from its tables.

    Args:
        run: complete or not; of a killed run, requests that had not ended are not in the tables.
        complete: whether the run came to its end; what `meta.json` says if None, but that comes last when a run is
            written.
        wall_s: wall time that the run took, in seconds.
        decision_digest: digest over its decisions.
        slo: limits for goodput and attainment; those in `meta.json` if None.
        warmup_s: seconds that the steady-state window leaves out; those in `meta.json` if None.
        columns: those of the run, for a caller who has read them.

    Raises:
        RunError: the tables are damaged or contradict each other.
        SloError: `meta.json` holds limits that have no meaning.
    """
    columns = RunColumns.of(run) if columns is None else columns
    if slo is None and run.meta.get("slo"):
        slo = Slo.of(run.meta["slo"])
    warmup_s = run.meta.get("warmup_s") if warmup_s is None else warmup_s
    seen = run.observation
    is_complete = run.is_complete if complete is None else complete
    values = {
        **_heading(run),
        "complete": is_complete,
        **_counts(run, columns),
        **_load_shares(run),
        **_throughput(columns, seen),
        **_goodput(columns, seen, slo),
        **_all_latencies(columns, columns.requests.is_finished, seen),
        **_engine(run, columns),
        "steady_state": None if warmup_s is None else _steady_state(columns, warmup_s, seen),
        "verdict": _verdict(run, columns, is_complete),
        "failed_by_reason": _failed_by_reason(run),
        "decision_digest": decision_digest,
        "virtual_duration_s": _virtual_duration_s(columns) if seen.has_arrivals else seen.duration_s,
        "wall_s": wall_s,
        "not_known": seen.text or None,
    }
    if values["verdict"]:
        values["verdict"]["text"] = verdict_text(values)
    return values


def _heading(run: Run) -> Values:
    settings = run.meta["settings"]
    return {
        "description": heading(run.meta),
        "backend": settings.get("backend"),
        "model_id": settings.get("model"),
        "request_rate": run.meta.get("request_rate", "trace"),
        "max_concurrency": run.meta.get("max_concurrency"),
    }


def _counts(run: Run, columns: RunColumns) -> Values:
    requests = columns.requests
    num_prompts = run.meta["trace"].get("num_requests", len(requests))
    completed, failed, aborted = (
        int(flags.sum()) for flags in (requests.is_finished, requests.is_failed, requests.is_aborted)
    )
    return {
        "num_prompts": num_prompts,
        "injected": int(requests.is_injected.sum()),
        "completed": completed,
        "failed": failed,
        "aborted": aborted,
        "unfinished": num_prompts - completed - failed - aborted,
        "total_input_tokens": int(requests.input_tokens[requests.is_finished].sum()),
        "total_output_tokens": int(requests.output_tokens[requests.is_finished].sum()),
    }


def _load_shares(run: Run) -> Values:
    """A client that sends no more than so many at once makes every arrival wait for an answer, in no way recorded."""
    shares = load_shares(run)
    return dict.fromkeys(shares) if run.meta.get("max_concurrency") is not None else shares


def _throughput(columns: RunColumns, seen: Observation) -> Values:
    requests, duration_s = columns.requests, _duration_s(columns, seen)
    num_input = int(requests.input_tokens[requests.is_finished].sum())
    num_output = int(requests.output_tokens[requests.is_finished].sum())
    return {
        "duration": duration_s,
        "request_throughput": _rate(int(requests.is_finished.sum()), duration_s),
        "output_throughput": _rate(num_output, duration_s),
        "total_token_throughput": _rate(num_input + num_output, duration_s),
        "max_output_tokens_per_s": _peak_tokens_per_s(columns) if seen.has_arrivals else None,
        "max_concurrent_requests": metrics.max_concurrent_requests(requests) if seen.has_arrivals else None,
    }


def _duration_s(columns: RunColumns, seen: Observation) -> float | None:
    if not seen.has_arrivals:
        return seen.duration_s
    span = metrics.whole_span(columns.requests)
    return span.length_s if span else 0.0


def _rate(amount: float, duration_s: float | None) -> float | None:
    return None if duration_s is None else metrics.rate(amount, duration_s)


def _peak_tokens_per_s(columns: RunColumns) -> float:
    span = metrics.whole_span(columns.requests)
    finished = columns.emissions.of_requests(columns.requests.is_finished)
    return metrics.max_output_tokens_per_s(finished, columns.steps, span.start_s) if span else 0.0


def _goodput(columns: RunColumns, seen: Observation, slo: Slo | None) -> Values:
    if slo is None:
        return {"slo": None, "request_goodput": None, "slo_attainment": None, "slo_attainment_by_metric": None}
    num_injected = int(columns.requests.is_injected.sum())
    num_good = int(slo.is_good(columns).sum())
    return {
        "slo": {f"{name}_s": limit for name, limit in slo.limits_s.items()},
        "request_goodput": _rate(num_good, _duration_s(columns, seen)),
        "slo_attainment": metrics.rate(num_good, num_injected),
        "slo_attainment_by_metric": {
            name: metrics.rate(int(is_met.sum()), num_injected) for name, is_met in slo.met(columns).items()
        },
    }


def _all_latencies(columns: RunColumns, is_wanted: Bools, seen: Observation) -> Values:
    latencies = columns.latencies()
    if seen.by_client:
        latencies |= {name: np.full(len(columns.requests), np.nan) for name in ENGINE_LATENCIES}
    values: Values = {}
    for name, key in LATENCY_KEYS.items():
        if name == "itl":
            sample = columns.emissions.of_requests(is_wanted).gaps_s(columns.steps)
        else:
            sample = Sample.of(latencies[name][is_wanted])
        values |= {f"{statistic}_{key}_ms": value for statistic, value in _statistics_ms(sample)}
    return values


def _statistics_ms(sample: Sample) -> Iterator[tuple[str, float | None]]:
    for name, value_s in (("mean", sample.mean()), ("median", sample.percentile(50)), ("std", sample.std())):
        yield name, _ms(value_s)
    for percent in PERCENTILES:
        yield f"p{percent}", _ms(sample.percentile(percent))


def _ms(value_s: float | None) -> float | None:
    return None if value_s is None else value_s * 1000


def _verdict(run: Run, columns: RunColumns, is_complete: bool) -> Values | None:
    if run.observation.by_client:
        return None
    return judge(columns, AdmissionLimits.of(run.meta), is_complete=is_complete).as_dict()


def _engine(run: Run, columns: RunColumns) -> Values:
    num_kv_blocks = run.meta["num_kv_blocks"]
    if run.observation.by_client:
        return {**dict.fromkeys(ENGINE_KEYS), "num_kv_blocks": num_kv_blocks}
    figures = _engine_figures(columns, num_kv_blocks)
    assert tuple(figures) == ENGINE_KEYS
    return {**figures, "num_kv_blocks": num_kv_blocks}


def _engine_figures(columns: RunColumns, num_kv_blocks: int) -> Values:
    steps, requests = columns.steps, columns.requests
    span = metrics.whole_span(requests)
    is_scheduled = ~np.isnan(requests.first_scheduled_s)
    kv_usage = metrics.kv_usage(steps, num_kv_blocks)
    return {
        "mean_running": metrics.time_average(steps.num_running, steps),
        "max_running": int(steps.num_running.max(initial=0)),
        "mean_waiting": metrics.time_average(steps.num_waiting, steps),
        "max_waiting": int(steps.num_waiting.max(initial=0)),
        "mean_kv_usage": metrics.time_average(kv_usage, steps),
        "max_kv_usage": float(kv_usage.max(initial=0.0)),
        "stepping_share": metrics.rate(metrics.stepping_s(steps, span), span.length_s) if span else None,
        "device_share": metrics.rate(float(steps.device_s.sum()), float(steps.duration_s.sum())),
        "num_steps": len(steps),
        "num_preemptions": len(columns.preemptions),
        "prefix_query_tokens": int(requests.input_tokens[is_scheduled].sum()),
        "prefix_hit_tokens": int(requests.hit_tokens[is_scheduled].sum()),
    }


def _steady_state(columns: RunColumns, warmup_s: float, seen: Observation) -> Values | None:
    """Throughput counts what finished or appeared in the window; latencies are of the requests that arrived in it."""
    requests = columns.requests
    span = metrics.steady_span(requests, warmup_s) if seen.has_arrivals else None
    if span is None:
        return None
    is_arrived = metrics.is_inside(requests.arrival_s, span)
    num_tokens = metrics.tokens_inside(columns.emissions, columns.steps, span)
    num_finished = int((metrics.is_inside(requests.finish_s, span) & requests.is_finished).sum())
    return {
        "warmup_s": warmup_s,
        "start_s": span.start_s,
        "end_s": span.end_s,
        "injected": int(is_arrived.sum()),
        "completed": num_finished,
        "request_throughput": metrics.rate(num_finished, span.length_s),
        "output_throughput": metrics.rate(num_tokens, span.length_s),
        **_all_latencies(columns, is_arrived & requests.is_finished, seen),
    }


def _failed_by_reason(run: Run) -> dict[str, int]:
    table = run.table("requests", ["index", "status", "reason"]).sort_by("index")
    failed = table.filter(pc.is_in(table.column("status"), to_arrow(["failed", "refused"], pa.string())))
    return count_by_reason(failed.column("reason").to_pylist())


def _virtual_duration_s(columns: RunColumns) -> float:
    span = metrics.stamped_span(columns.requests, columns.steps)
    return span.length_s if span else 0.0
