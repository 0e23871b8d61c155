import json
from pathlib import Path
from typing import Any

import pytest

from analysis.comparison import compare
from analysis.errors import RunError
from analysis.report import render_report
from analysis.run import Run, load
from analysis.story import tell
from analysis.summary import ENGINE_KEYS
from analysis.vllm_import import ImportedRun, import_vllm
from tests.analysis.vllm_files import write_result
from traces import read_trace


def _imported(folder: Path, *leave_out: str, **changes: Any) -> ImportedRun:
    return import_vllm(write_result(folder / "result.json", *leave_out, **changes), folder / "run")


def _requests(run: Run, *columns: str) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in run.table("requests", columns).to_pylist()]


def test_figures_are_those_of_the_file(tmp_path: Path) -> None:
    """TTFT 0.5 and 0.25 s, E2E 1.25 s both, gaps 0.25, 0.5 and 1 s; the failed one is last heard of after 2 s."""
    summary = _imported(tmp_path).summary

    assert (summary["completed"], summary["failed"], summary["injected"]) == (2, 1, 3)
    assert (summary["total_input_tokens"], summary["total_output_tokens"]) == (30, 5)
    assert summary["duration"] == 2.0
    assert summary["output_throughput"] == 2.5
    assert summary["mean_ttft_ms"] == 375.0
    assert summary["mean_e2el_ms"] == 1250.0
    assert summary["mean_tpot_ms"] == (375.0 + 1000.0) / 2
    assert summary["median_itl_ms"] == 500.0
    assert summary["max_concurrent_requests"] == 2
    assert (summary["request_rate"], summary["max_concurrency"]) == (2.0, None)
    assert summary["failed_by_reason"] == {"TimeoutError: 300 s": 1}


def test_what_a_client_cannot_see_is_missing_not_zero(tmp_path: Path) -> None:
    summary = _imported(tmp_path).summary

    assert {summary[name] for name in ENGINE_KEYS} == {None}
    assert {summary[f"mean_{name}_ms"] for name in ("queue", "prefill", "decode", "preempted")} == {None}
    assert (summary["verdict"], summary["num_kv_blocks"]) == (None, None)
    assert summary["not_known"].startswith("Recorded by a client: ")


def test_run_is_read_like_any_other(tmp_path: Path) -> None:
    imported = _imported(tmp_path)
    run = load(imported.path)

    assert run.is_complete
    assert run.summary == imported.summary
    columns = ("request_id", "line", "arrival_s", "first_token_s", "last_token_s", "finish_s", "status")
    assert _requests(run, *columns) == [
        ("r0", 1, 0.0, 0.5, 1.25, 1.25, "finished"),
        ("r1", 2, 0.5, 0.75, 1.75, 1.75, "finished"),
        ("r2", 3, 2.0, None, None, 2.0, "failed"),
    ]
    assert run.requests["ttft_s"].tolist()[:2] == [0.5, 0.25]
    assert len(run.table("events")) == 0
    assert run.meta["result"]["burstiness"] == 1.0
    assert run.meta["settings"] == {"backend": "vllm", "model": "Qwen/Qwen3-8B"}


def test_requests_are_in_the_order_of_their_arrivals(tmp_path: Path) -> None:
    run = load(_imported(tmp_path, start_times=[1001.0, 1000.0, 1001.0]).path)

    assert _requests(run, "index", "request_id", "arrival_s") == [(0, "r1", 0.0), (1, "r0", 1.0), (2, "r2", 1.0)]


def test_same_requests_can_be_replayed(tmp_path: Path) -> None:
    imported = _imported(tmp_path)
    trace = read_trace(imported.path / "trace.jsonl.zst")

    assert imported.has_trace
    assert [(row.request_id, row.arrival_s, row.input_length, row.output_length) for row in trace.requests] == [
        ("r0", 0.0, 10, 3),
        ("r1", 0.5, 20, 2),
        ("r2", 2.0, 40, 1),
    ]
    assert trace.digest == load(imported.path).meta["trace"]["digest"]


def test_without_arrivals_latencies_are_known_and_load_is_not(tmp_path: Path) -> None:
    imported = _imported(tmp_path, "start_times")
    summary = imported.summary

    assert (summary["mean_ttft_ms"], summary["mean_e2el_ms"]) == (375.0, 1250.0)
    assert (summary["duration"], summary["output_throughput"]) == (5.0, 1.0)
    assert (summary["max_concurrent_requests"], summary["max_output_tokens_per_s"]) == (None, None)
    assert not imported.has_trace
    assert not (imported.path / "trace.jsonl.zst").exists()
    assert any(notice.startswith("The file has no start_times") for notice in imported.notices)
    assert "Arrival times are not known" in summary["not_known"]


def test_without_arrivals_and_duration_there_is_no_throughput(tmp_path: Path) -> None:
    assert _imported(tmp_path, "start_times", duration=None).summary["output_throughput"] is None


def test_all_at_once_is_an_arrival_too(tmp_path: Path) -> None:
    imported = _imported(tmp_path, "start_times", request_rate="inf")

    assert imported.has_trace
    assert imported.summary["duration"] == 1.25
    assert any("they arrive at 0 s" in notice for notice in imported.notices)


def test_latencies_count_from_when_a_request_was_due(tmp_path: Path) -> None:
    imported = _imported(tmp_path, queue_times=[0.0, 1.0, 0.0], max_concurrency=1)

    assert imported.summary["mean_ttft_ms"] == (500.0 + 1250.0) / 2
    assert "The client held requests back, for up to 1.000 s; TTFT and E2E count from when they were due." in (
        imported.notices
    )
    assert not [notice for notice in imported.notices if notice.startswith("The file says")]


def test_client_that_held_back_without_saying_for_how_long(tmp_path: Path) -> None:
    notices = _imported(tmp_path, max_concurrency=1).notices

    assert "The client held requests back (max_concurrency); for how long is not recorded, and not in any latency." in (
        notices
    )


def test_tokens_that_came_several_at_a_time_keep_their_latencies(tmp_path: Path) -> None:
    """Five tokens in three chunks, and one in two: first and last token, and their number, are the file's."""
    imported = _imported(tmp_path, output_lens=[5, 1, 0], total_output_tokens=6)
    run = load(imported.path)

    assert imported.summary["mean_ttft_ms"] == 375.0
    assert imported.summary["mean_e2el_ms"] == 1250.0
    assert imported.summary["mean_tpot_ms"] == 187.5
    assert _requests(run, "output_tokens", "emission_counts") == [(5, [1, 2, 2]), (1, [1]), (0, [])]
    assert [notice.split(":")[0] for notice in imported.notices if "than chunks" in notice] == [
        "More tokens than chunks (1 requests)",
        "Fewer tokens than chunks (1 requests)",
    ]


def test_answer_without_a_token_is_finished(tmp_path: Path) -> None:
    imported = _imported(tmp_path, output_lens=[3, 0, 0], total_output_tokens=3)

    assert imported.summary["completed"] == 2
    assert imported.summary["mean_ttft_ms"] == 375.0


def test_request_that_was_never_sent_comes_last_and_is_in_no_trace(tmp_path: Path) -> None:
    imported = _imported(
        tmp_path,
        start_times=[0.0, 1000.5, 1001.0],
        errors=["refused", "", ""],
        output_lens=[0, 2, 1],
        ttfts=[0.0, 0.25, 1.0],
    )

    assert _requests(load(imported.path), "request_id", "arrival_s") == [("r1", 0.0), ("r2", 0.5), ("r0", None)]
    assert read_trace(imported.path / "trace.jsonl.zst").num_requests == 2
    assert "Requests that failed before they were sent (1) are not in the trace." in imported.notices


def test_figures_that_the_lists_do_not_bear_out_are_named(tmp_path: Path) -> None:
    notices = _imported(tmp_path, completed=3, mean_ttft_ms=400.0).notices

    assert "The file says completed is 3, but its lists give 2." in notices
    assert "The file says mean_ttft_ms is 400, but its lists give 375." in notices


def test_numbers_that_json_does_not_have_are_kept_as_text(tmp_path: Path) -> None:
    imported = _imported(tmp_path, request_rate=float("inf"), std_itl_ms=float("nan"))

    json.loads((imported.path / "meta.json").read_text(), parse_constant=pytest.fail)
    assert load(imported.path).meta["result"]["std_itl_ms"] == "nan"


def test_report_says_what_is_not_known(tmp_path: Path) -> None:
    text = render_report(_imported(tmp_path, "start_times").summary)

    assert "Mean TTFT (ms):                          375.00\n" in text
    assert "Peak concurrent requests:                -\n" in text
    assert "Not Known" in text
    assert "Utilisation" not in text
    assert "Verdict" not in text


def test_comparison_with_a_simulation_leaves_out_what_only_one_knows(tmp_path: Path) -> None:
    run = load(_imported(tmp_path).path)
    comparison = compare(run, run)

    assert comparison.decisions.text == "Decisions: not known, since a client cannot see them."
    assert (comparison.steps, comparison.levels, comparison.num_matched) == ((), (), 0)
    assert [error.error.size for error in comparison.requests] == [2, 2, 2, 0]
    assert {warning.partition(": ")[2] for warning in comparison.warnings} == {run.observation.text}
    json.dumps(comparison.as_dict(), allow_nan=False)


def test_requests_without_arrivals_are_not_compared_one_by_one(tmp_path: Path) -> None:
    run = load(_imported(tmp_path, "start_times").path)

    assert compare(run, run).requests == ()


def test_a_client_knows_no_story(tmp_path: Path) -> None:
    run = load(_imported(tmp_path).path)

    with pytest.raises(RunError, match="was recorded by a client, which cannot see what a request waits for"):
        tell(run, "r0")
