"""Rows of runs at several rates, for tests of what is made of them."""

from typing import Any

from analysis.sweep_columns import COST_MODEL, FIGURES, VERDICT


def load_row(
    rate: float, *, span_s: float | None, drain_s: float, tokens: int = 1000, **figures: Any
) -> dict[str, Any]:
    """A run whose requests arrive over `span_s` seconds and which ends `drain_s` seconds later."""
    duration = (span_s or 0.0) + drain_s
    row: dict[str, Any] = {column.name: 0 for column in (*FIGURES, *COST_MODEL, *VERDICT)}
    return row | {
        "run": f"vllm,rate={rate:g}",
        "rate_scale": rate,
        "policy": "vllm",
        "arrival_span_s": span_s,
        "arrivals_per_s": 100 / span_s if span_s else None,
        "duration": duration,
        "total_output_tokens": tokens,
        "output_throughput": tokens / duration,
        "verdict": "keeps up",
        "limited_by": None,
        "slo_attainment": None,
        "request_goodput": None,
        "decision_digest": "d",
        **figures,
    }
