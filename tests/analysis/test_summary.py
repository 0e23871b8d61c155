import json
import math
from pathlib import Path
from typing import Any

import pytest

from analysis.errors import SloError
from analysis.run import Run, load
from analysis.run_writer import RunWriter
from analysis.slo import Slo
from analysis.summary import summarise
from tests.run_builder import META, RunBuilder, small_run

# Keys of the result file of `vllm bench serve`, with percentiles 50, 90, 95, 99 of all four metrics.
VLLM_KEYS = {
    "model_id",
    "num_prompts",
    "request_rate",
    "max_concurrency",
    "duration",
    "completed",
    "failed",
    "total_input_tokens",
    "total_output_tokens",
    "request_throughput",
    "request_goodput",
    "output_throughput",
    "total_token_throughput",
    "max_output_tokens_per_s",
    "max_concurrent_requests",
} | {
    f"{statistic}_{metric}_ms"
    for statistic in ("mean", "median", "std", "p50", "p90", "p95", "p99")
    for metric in ("ttft", "tpot", "itl", "e2el")
}
OUR_KEYS = {
    "failed_by_reason",
    "num_steps",
    "num_preemptions",
    "prefix_query_tokens",
    "prefix_hit_tokens",
    "decision_digest",
    "num_kv_blocks",
    "virtual_duration_s",
    "wall_s",
}


@pytest.fixture
def small(tmp_path: Path) -> dict[str, Any]:
    return summarise(small_run(tmp_path).build(), wall_s=2.0, decision_digest="d1")


def numbers(value: object) -> list[float]:
    if isinstance(value, dict):
        return [number for item in value.values() for number in numbers(item)]
    return [float(value)] if isinstance(value, int | float) else []


def assert_is_plain_json(summary: dict[str, Any]) -> None:
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary
    assert all(math.isfinite(number) for number in numbers(summary))


def test_keys(small: dict[str, Any]) -> None:
    assert small.keys() >= VLLM_KEYS | OUR_KEYS
    assert_is_plain_json(small)


def test_counts_and_throughput(small: dict[str, Any]) -> None:
    expected = {
        "num_prompts": 3,
        "injected": 3,
        "completed": 2,
        "failed": 1,
        "aborted": 0,
        "unfinished": 0,
        "total_input_tokens": 20,
        "total_output_tokens": 6,
        "duration": 6.0,
        "request_throughput": 2 / 6,
        "output_throughput": 1.0,
        "total_token_throughput": 26 / 6,
        "max_output_tokens_per_s": 2.0,
        "max_concurrent_requests": 2,
        "failed_by_reason": {"prompt of 500 tokens is too long": 1},
        "num_steps": 5,
        "num_preemptions": 1,
        "prefix_query_tokens": 20,
        "prefix_hit_tokens": 4,
        "num_kv_blocks": 100,
        "virtual_duration_s": 6.0,
        "wall_s": 2.0,
        "decision_digest": "d1",
        "max_running": 2,
        "max_waiting": 1,
        "mean_waiting": 0.5,
        "max_kv_usage": 0.2,
        "stepping_share": 1.0,
        "device_share": 0.75,
        "complete": True,
    }
    assert {key: small[key] for key in expected} == expected


def test_latencies(small: dict[str, Any]) -> None:
    expected = {
        "mean_ttft_ms": 1250.0,
        "median_ttft_ms": 1250.0,
        "std_ttft_ms": 250.0,
        "p99_ttft_ms": 1495.0,
        "mean_tpot_ms": 1750.0,
        "mean_itl_ms": 1750.0,
        "median_itl_ms": 1500.0,
        "p90_itl_ms": 2700.0,
        "std_itl_ms": 1000 * 0.6875**0.5,
        "mean_e2el_ms": 4750.0,
        "p50_e2el_ms": 4750.0,
        "mean_queue_ms": 250.0,
        "mean_prefill_ms": 1000.0,
        "mean_decode_ms": 2500.0,
        "mean_preempted_ms": 1000.0,
        "p90_preempted_ms": 1800.0,
    }
    assert {key: small[key] for key in expected} == pytest.approx(expected)


def test_parts_of_latency_sum_up(small: dict[str, Any]) -> None:
    parts = [small[f"mean_{part}_ms"] for part in ("queue", "prefill", "decode", "preempted")]
    assert sum(parts) == small["mean_e2el_ms"]


def test_goodput_is_over_the_duration_and_attainment_over_all_that_arrived(tmp_path: Path) -> None:
    run = small_run(tmp_path).build()
    summary = summarise(run, slo=Slo({"ttft": 1.0, "e2e": 6.0}))
    assert summary["slo"] == {"ttft_s": 1.0, "e2e_s": 6.0}
    assert summary["request_goodput"] == 1 / 6
    assert summary["slo_attainment"] == 1 / 3
    assert summary["slo_attainment_by_metric"] == {"ttft": 1 / 3, "e2e": 2 / 3}


def test_objectives_and_warmup_come_from_the_run_unless_given(tmp_path: Path) -> None:
    run = small_run(tmp_path, slo={"ttft": 1.0}, warmup_s=0.25).build()
    assert summarise(run)["slo"] == {"ttft_s": 1.0}
    assert summarise(run)["steady_state"]["warmup_s"] == 0.25
    assert summarise(run, slo=Slo({"tpot": 2.0}))["slo"] == {"tpot_s": 2.0}
    assert summarise(run, warmup_s=0.5)["steady_state"]["warmup_s"] == 0.5


def test_objectives_of_the_run_that_have_no_meaning(tmp_path: Path) -> None:
    with pytest.raises(SloError):
        summarise(small_run(tmp_path, slo={"speed": 1}).build())


def test_steady_state_leaves_out_warmup_and_drain(tmp_path: Path) -> None:
    builder = RunBuilder(tmp_path)
    for _ in range(10):
        builder.step(decode=1)
    for k in range(8):
        builder.request(f"r{k}", arrival_s=float(k), emissions=[(k, 2)])
    block = summarise(builder.build(), warmup_s=2.0)["steady_state"]
    # Window 2 to 7 s: r2 to r7 arrive in it, r0 to r5 end in it (at 2 to 7), each second from 2 to 7 gives 2 tokens.
    assert (block["start_s"], block["end_s"]) == (2.0, 7.0)
    assert (block["injected"], block["completed"]) == (6, 6)
    assert block["request_throughput"] == 6 / 5
    assert block["output_throughput"] == 12 / 5
    assert block["mean_ttft_ms"] == 1000.0


def test_steady_state_of_a_run_shorter_than_the_warmup(tmp_path: Path) -> None:
    assert summarise(small_run(tmp_path).build(), warmup_s=60.0)["steady_state"] is None


def undefined(summary: dict[str, Any]) -> set[str]:
    return {key for key, value in summary.items() if value is None}


def test_empty_run(tmp_path: Path) -> None:
    summary = summarise(RunBuilder(tmp_path).build())
    assert_is_plain_json(summary)
    assert summary["completed"] == summary["failed"] == summary["num_steps"] == 0
    assert summary["duration"] == summary["virtual_duration_s"] == 0.0
    assert {"mean_ttft_ms", "std_itl_ms", "p99_queue_ms", "request_throughput", "mean_running"} <= undefined(summary)


def test_run_of_one_request_with_one_token(tmp_path: Path) -> None:
    builder = RunBuilder(tmp_path)
    builder.step(prefill=[10], duration_s=0.5)
    builder.request("a", emissions=[(0, 1)])
    summary = summarise(builder.build())
    assert_is_plain_json(summary)
    assert (summary["mean_ttft_ms"], summary["mean_e2el_ms"], summary["std_ttft_ms"]) == (500.0, 500.0, 0.0)
    assert {"mean_tpot_ms", "mean_itl_ms", "p99_itl_ms"} <= undefined(summary)
    assert summary["output_throughput"] == 2.0


def test_run_in_which_all_failed(tmp_path: Path) -> None:
    builder = RunBuilder(tmp_path)
    for k in range(3):
        builder.request(f"r{k}", arrival_s=1.0, finish_s=1.0, status="refused", reason=f"prompt of 5{k}0 tokens")
    builder.request("r3", arrival_s=1.0, finish_s=1.0, status="failed", reason=None)
    summary = summarise(builder.build(), slo=Slo({"ttft": 1.0}), warmup_s=0.0)
    assert_is_plain_json(summary)
    assert (summary["completed"], summary["failed"]) == (0, 4)
    assert summary["failed_by_reason"] == {"prompt of 500 to 520 tokens": 3, "unknown": 1}
    assert summary["slo_attainment"] == 0.0
    assert summary["request_goodput"] is None
    assert summary["verdict"]["status"] == "idle"


def test_reason_of_one_failure_keeps_its_numbers(tmp_path: Path) -> None:
    builder = RunBuilder(tmp_path)
    builder.request("a", finish_s=0.0, status="refused", reason="prompt of 1,024 tokens, limit 512")
    assert summarise(builder.build())["failed_by_reason"] == {"prompt of 1,024 tokens, limit 512": 1}


def killed_run(path: Path) -> Run:
    builder = small_run(path, trace={"num_requests": 3})
    writer = RunWriter(path, builder.meta)
    writer.add_requests(builder.requests[:1])
    writer.add_events(builder.events[:8])
    writer.add_steps(builder.steps[:3])
    writer.flush()
    return load(path)


def test_killed_run(tmp_path: Path) -> None:
    summary = summarise(killed_run(tmp_path))
    assert_is_plain_json(summary)
    assert summary["complete"] is False
    assert (summary["completed"], summary["unfinished"], summary["num_steps"]) == (1, 2, 3)
    assert summary["num_preemptions"] == 1
    assert summary["mean_e2el_ms"] == 4000.0


def test_summary_before_finish_is_that_after_it(tmp_path: Path) -> None:
    builder = small_run(tmp_path)
    writer = RunWriter(tmp_path, META)
    writer.add_steps(builder.steps)
    writer.add_events(builder.events)
    writer.add_requests(builder.requests[::-1])
    writer.flush()
    before = summarise(load(tmp_path), complete=True)
    writer.finish(before, complete=True)
    assert load(tmp_path).summary == summarise(load(tmp_path)) == before
