"""The columns of a sweep's frame, one row a run."""

from typing import Any

import pyarrow as pa

from analysis.schema import Column

_INT, _FLOAT, _TEXT, _BOOL = pa.int64(), pa.float64(), pa.string(), pa.bool_()
_STATISTICS = {"mean": "mean", "median": "median", "p90": "90th percentile", "p95": "95th", "p99": "99th percentile"}
_LATENCIES = {
    "ttft": "arrival to first token",
    "tpot": "time per output token after the first",
    "itl": "time from token to token",
    "e2el": "arrival to last token",
    "queue": "arrival to first time scheduled",
}

FIGURES = (
    Column("num_kv_blocks", _INT, "KV blocks of the engine"),
    Column("num_prompts", _INT, "requests of the trace"),
    Column("injected", _INT, "requests that arrived"),
    Column("completed", _INT, "requests that finished"),
    Column("failed", _INT, "requests that failed or were refused"),
    Column("duration", _FLOAT, "first arrival to last end of a request, in seconds"),
    Column("total_input_tokens", _INT, "prompt tokens of finished requests"),
    Column("total_output_tokens", _INT, "output tokens of finished requests"),
    Column("request_throughput", _FLOAT, "finished requests a second of the duration", True),
    Column("output_throughput", _FLOAT, "their output tokens a second", True),
    Column("total_token_throughput", _FLOAT, "their prompt and output tokens a second", True),
    *(
        Column(f"{statistic}_{latency}_ms", _FLOAT, f"{words} of {meaning}, in milliseconds; null if undefined", True)
        for latency, meaning in _LATENCIES.items()
        for statistic, words in _STATISTICS.items()
    ),
    Column("request_goodput", _FLOAT, "requests that met every limit, a second; null without limits", True),
    Column("slo_attainment", _FLOAT, "their share of the requests that arrived; null without limits", True),
    Column("mean_running", _FLOAT, "requests running, over the time with a step under way", True),
    Column("max_running", _INT, "most of them"),
    Column("mean_waiting", _FLOAT, "requests waiting, over the time with a step under way", True),
    Column("max_waiting", _INT, "most of them"),
    Column("mean_kv_usage", _FLOAT, "share of KV blocks in use, over the time with a step under way", True),
    Column("max_kv_usage", _FLOAT, "largest of it"),
    Column("stepping_share", _FLOAT, "share of the duration with a step under way", True),
    Column("num_steps", _INT, "steps"),
    Column("num_preemptions", _INT, "preemptions"),
    Column("prefix_query_tokens", _INT, "prompt tokens that were looked up in the prefix cache"),
    Column("prefix_hit_tokens", _INT, "those that were found"),
    Column("closed_request_share", _FLOAT, "share of requests that wait for the answer before them", True),
    Column("decision_digest", _TEXT, "equal for equal decisions", True),
)
"""Figures of `summary.json`, under the same names."""

COST_MODEL = (
    Column("cost_model", _TEXT, "roofline, fitted or recorded; null if step times were measured", True),
    Column("outside_share", _FLOAT, "share of the steps outside what it was fitted to; null if it was not", True),
)
"""From the summary's cost model."""

VERDICT = (
    Column("verdict", _TEXT, "whether the engine keeps up: see `analysis.verdict`"),
    Column("limited_by", _TEXT, "what requests waited for longest; null if for nothing", True),
    Column("arrivals_per_s", _FLOAT, "requests that arrived, per second of the arrival span; null if it is 0", True),
    Column("arrival_span_s", _FLOAT, "first to last arrival, in seconds; null if it is 0", True),
)
"""From the summary's verdict."""

JUDGED = (
    Column("offered_output_throughput", _FLOAT, "output tokens, per second of the arrival span; null if it is 0", True),
    Column("follows_load", _BOOL, "whether the engine keeps up with the arrivals: see `analysis.load_curve`"),
    Column("is_knee", _BOOL, "whether this is the knee of its configuration"),
    Column("meets_slo", _BOOL, "whether enough requests meet every limit; null without limits", True),
    Column("is_highest_in_slo", _BOOL, "whether this is the highest rate that meets them"),
)
"""What follows from the other rows of the same configuration."""


def schema_of(varied: dict[str, Any]) -> pa.Schema:
    """The schema of a frame.

    Args:
        varied: a value of each varied setting; None if all its values are None.
    """
    settings = [Column("run", _TEXT, "name of the run directory"), Column("rate_scale", _FLOAT, "factor on the rate")]
    settings += [Column(name, _type_of(value), "a setting", name != "policy") for name, value in varied.items()]
    columns = (*settings, *FIGURES, *COST_MODEL, *VERDICT, *JUDGED)
    return pa.schema([pa.field(c.name, c.type, c.nullable, metadata={"doc": c.doc}) for c in columns])


def _type_of(value: object) -> pa.DataType:
    types: dict[type, pa.DataType] = {bool: _BOOL, int: _INT, float: _FLOAT}
    return types.get(type(value), _TEXT)
