"""The summary as plain text, in the layout that users of `vllm bench serve` know."""

import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

from analysis.flag_names import with_flags
from analysis.metrics import prefix_hit_share
from analysis.outside_text import outside_text

WIDTH = 50
_LABEL_WIDTH = 40
_MIN_PEAK_S = 3  # the peak counts whole seconds: over few of them it may lie below the mean
_LATENCY_BLOCKS = (
    ("ttft", "TTFT", "Time to First Token"),
    ("tpot", "TPOT", "Time per Output Token (excl. 1st token)"),
    ("itl", "ITL", "Inter-token Latency"),
    ("e2el", "E2EL", "End-to-end Latency"),
)
_STATISTICS = (("mean", "Mean"), ("median", "Median"), ("p90", "P90"), ("p99", "P99"))

Summary = Mapping[str, Any]


def render_report(summary: Summary) -> str:
    """Renders a summary.

    Args:
        summary: as `analysis.summary.summarise` returns it.

    Returns:
        Lines of text without colour codes; a figure that is undefined shows as `-`.
    """
    lines = [" Serving Benchmark Result ".center(WIDTH, "=")]
    lines += _wrapped(summary["description"])
    lines += _counts(summary)
    for key, label, title in _LATENCY_BLOCKS:
        lines += [_title(title), *_latency(summary, key, label)]
    # A verdict is given of every run that its engine has recorded; a client knows as little of what it is based on.
    if summary["verdict"]:
        lines += [_title("Latency Split: Mean / P50 / P99"), *_split(summary)]
        lines += [_title("Utilisation: Mean / Peak"), *_utilisation(summary)]
    if summary["slo"]:
        lines += [_title("Service Level Objectives"), *_objectives(summary)]
    if summary["steady_state"]:
        lines += [_title("Steady State"), *_steady_state(summary["steady_state"])]
    if summary["failed_by_reason"]:
        lines += [_title("Failed or Refused, by Reason"), *_failures(summary["failed_by_reason"])]
    if (summary.get("cost_model") or {}).get("kind", "roofline") != "roofline":  # the heading says all of a roofline
        lines += [_title("Step Times"), *_cost_model(summary["cost_model"])]
    if summary["verdict"]:
        lines += [_title("Verdict"), *_wrapped(summary["verdict"]["text"])]
    if summary["not_known"]:
        lines += [_title("Not Known"), *_wrapped(summary["not_known"])]
    lines.append("=" * WIDTH)
    return "\n".join(lines) + "\n"


def _title(text: str) -> str:
    return text.center(WIDTH, "-")


def _wrapped(text: str, indent: str = "") -> list[str]:
    """Lines no wider than the report; a word that is wider, such as a path, stays whole."""
    return textwrap.wrap(text, WIDTH, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False)


def _line(label: str, value: str) -> str:
    return f"{label + ':':<{_LABEL_WIDTH}} {value}"


def _number(value: float | None, decimals: int = 2) -> str:
    if value is None:
        return "-"
    return f"{value:.{decimals}f}" if isinstance(value, float) else str(value)


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f}"


def _counts(summary: Summary) -> Iterator[str]:
    if not summary["complete"]:
        yield "Partial run: it was stopped before its end."
    yield _line("Successful requests", _number(summary["completed"]))
    yield _line("Failed requests", _number(summary["failed"]))
    for key in ("aborted", "unfinished"):
        if summary[key]:
            yield _line(f"{key.capitalize()} requests", _number(summary[key]))
    for noun in ("request", "token"):
        shares = [_percent(summary[f"{loop}_{noun}_share"]) for loop in ("open", "closed")]
        yield _line(f"Open / closed loop (% of {noun}s)", " / ".join(shares))
    yield _line("Benchmark duration (s)", _number(summary["duration"]))
    yield _line("Total input tokens", _number(summary["total_input_tokens"]))
    yield _line("Total generated tokens", _number(summary["total_output_tokens"]))
    yield _line("Request throughput (req/s)", _number(summary["request_throughput"]))
    if summary["slo"]:
        yield _line("Request goodput (req/s)", _number(summary["request_goodput"]))
    yield _line("Output token throughput (tok/s)", _number(summary["output_throughput"]))
    if (summary["duration"] or 0.0) >= _MIN_PEAK_S:
        yield _line("Peak output token throughput (tok/s)", _number(summary["max_output_tokens_per_s"]))
    yield _line("Peak concurrent requests", _number(summary["max_concurrent_requests"]))
    yield _line("Total token throughput (tok/s)", _number(summary["total_token_throughput"]))
    if summary["wall_s"] and summary["virtual_duration_s"] is not None:
        speed_up = summary["virtual_duration_s"] / summary["wall_s"]
        yield _line("Wall time (s)", _number(summary["wall_s"]))
        yield _line("Times faster than real time", _number(speed_up, 1))


def _latency(summary: Summary, key: str, label: str) -> Iterator[str]:
    for statistic, name in _STATISTICS:
        yield _line(f"{name} {label} (ms)", _number(summary[f"{statistic}_{key}_ms"]))


def _split(summary: Summary) -> Iterator[str]:
    for key in ("queue", "prefill", "decode", "preempted"):
        values = [_number(summary[f"{statistic}_{key}_ms"]) for statistic in ("mean", "median", "p99")]
        yield _line(f"{key.capitalize()} (ms)", " / ".join(values))


def _utilisation(summary: Summary) -> Iterator[str]:
    for key in ("running", "waiting"):
        values = f"{_number(summary[f'mean_{key}'])} / {summary[f'max_{key}']}"
        yield _line(f"{key.capitalize()} requests", values)
    usage = f"{_percent(summary['mean_kv_usage'])} / {_percent(summary['max_kv_usage'])}"
    yield _line(f"KV cache use (%, of {summary['num_kv_blocks']} blocks)", usage)
    yield _line("Time with a step under way (%)", _percent(summary["stepping_share"]))
    yield _line("Device busy within steps (%)", _percent(summary["device_share"]))
    yield _line("Steps", _number(summary["num_steps"]))
    yield _line("Preemptions", _number(summary["num_preemptions"]))
    hit_share = prefix_hit_share(summary["prefix_hit_tokens"], summary["prefix_query_tokens"])
    yield _line("Prefix cache hits (% of prompt tokens)", _percent(hit_share))


def _objectives(summary: Summary) -> Iterator[str]:
    for name, attainment in summary["slo_attainment_by_metric"].items():
        limit = f"{1000 * summary['slo'][f'{name}_s']:g} ms"
        yield _line(f"{name.upper()} within {limit} (%)", _percent(attainment))
    yield _line("All met (% of requests that arrived)", _percent(summary["slo_attainment"]))


def _steady_state(block: Summary) -> Iterator[str]:
    yield _line("Window (s)", f"{block['start_s']:.2f} to {block['end_s']:.2f}")
    yield _line("Requests arrived in it", _number(block["injected"]))
    yield _line("Request throughput (req/s)", _number(block["request_throughput"]))
    yield _line("Output token throughput (tok/s)", _number(block["output_throughput"]))
    for key, label, _ in _LATENCY_BLOCKS:
        values = [_number(block[f"{statistic}_{key}_ms"]) for statistic in ("mean", "median", "p99")]
        yield _line(f"{label}, mean / P50 / P99 (ms)", " / ".join(values))


def _cost_model(block: Summary) -> Iterator[str]:
    """What the step times of a simulation rest on."""
    yield from _wrapped(f"{block['kind']}: {block['text']}")
    outside = outside_text(block)
    if outside is not None:
        yield from _wrapped(f"Warning: {outside}")


def _failures(failed_by_reason: Mapping[str, int]) -> Iterator[str]:
    for reason, count in sorted(failed_by_reason.items(), key=lambda item: -item[1]):
        yield from _wrapped(f"{count} x {with_flags(reason)}", "    ")
