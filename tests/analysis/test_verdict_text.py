from pathlib import Path
from typing import Any

import pytest

from analysis.slo import Slo
from analysis.summary import summarise
from analysis.verdict_text import verdict_text
from tests.run_builder import RunBuilder

NO_SHARES = {"tokens": 0.0, "sequences": 0.0, "kv_blocks": 0.0}
VERDICT: dict[str, Any] = {
    "status": "keeps up",
    "num_arrivals": 300,
    "arrival_span_s": 100.0,
    "arrivals_per_s": 3.0,
    "finishes_per_s": 2.9,
    "num_unfinished": 10,
    "busy_share": 0.97,
    "backlog_growth_per_min": None,
    "quickest_s": 1.0,
    "sustained_per_s": None,
    "limited_by": None,
    "limit_shares": NO_SHARES,
    "limits": {"tokens": 8192, "sequences": 256, "kv_blocks": None},
}
SUMMARY: dict[str, Any] = {"complete": True, "failed": 0, "slo": None, "slo_attainment": None}


def text(summary: dict[str, Any] | None = None, **verdict: Any) -> str:
    return verdict_text(SUMMARY | (summary or {}) | {"verdict": VERDICT | verdict})


def test_keeps_up_gives_both_rates() -> None:
    assert text() == "Keeps up: 3 req/s arrive and 2.9 finish meanwhile."


def test_what_is_left_is_told_if_it_sets_the_rates_apart() -> None:
    assert text(num_unfinished=80, finishes_per_s=2.2) == (
        "Keeps up: 3 req/s arrive and 2.2 finish meanwhile; 80 were unfinished when the last came, without growing "
        "steadily."
    )


def test_falls_behind_with_large_numbers() -> None:
    found = text(
        status="falls behind",
        arrivals_per_s=1234.5,
        backlog_growth_per_min=1218.8,
        sustained_per_s=10.31,
        limit_shares=NO_SHARES | {"tokens": 0.9},
    )
    assert found == (
        "Falls behind: 1,234 req/s arrive and 2.9 finish meanwhile; the backlog grows by 1,219 requests/min; at "
        "least 10.3 req/s would be sustained. Requests waited 90% of the time, for the token budget "
        "(--max-num-batched-tokens 8192)."
    )


def test_backlog_that_runs_is_called_so() -> None:
    found = text(status="falls behind", backlog_growth_per_min=60.0)
    assert found.endswith("requests/min. Most of the backlog runs at once, each request more slowly.")


def test_limits_are_named_with_flag_and_size_and_small_ones_left_out() -> None:
    shares = {"tokens": 0.004, "sequences": 0.5, "kv_blocks": 0.25}
    assert text(limit_shares=shares).endswith(
        " Requests waited 75% of the time, most for the sequence limit (--max-num-seqs 256), 25% for KV blocks "
        "(--num-blocks)."
    )


def test_negligible_waiting_is_not_mentioned() -> None:
    assert "waited" not in text(limit_shares=NO_SHARES | {"tokens": 0.009})


def test_failures_missed_objectives_and_an_early_end_are_told() -> None:
    summary = {"failed": 70, "slo": {"ttft_s": 0.5}, "slo_attainment": 18 / 300, "complete": False}
    assert text(summary).endswith(
        " But 70 of 300 requests (23.3%) failed. But 282 of 300 requests (94.0%) missed the objectives. The run was "
        "stopped before its end and is judged up to there."
    )
    assert " 70 of 300" in text(summary, status="falls behind", backlog_growth_per_min=1.0)
    assert "But" not in text(summary, status="falls behind", backlog_growth_per_min=1.0)


def test_too_short() -> None:
    assert text(status="too short", arrival_span_s=0.2443) == (
        "Too short to judge: 300 requests came within 0.244 s, in fewer than 20 steps."
    )
    assert text(status="too short", backlog_growth_per_min=60.0, quickest_s=158.3) == (
        "Too short to settle: 300 requests came within 100 s, but one takes 158 s even on an empty engine; a longer "
        "trace would tell."
    )


@pytest.mark.parametrize(("busy", "end"), [(0.014, ", and steps fill 1% of the time."), (None, ".")])
def test_idle(busy: float | None, end: str) -> None:
    assert text(status="idle", busy_share=busy) == f"Idle: 3 req/s arrive{end}"
    assert text(status="idle", num_arrivals=0) == "Idle: no request arrived."


def test_summary_holds_the_text_and_counts_misses_of_all_that_arrived(tmp_path: Path) -> None:
    builder = RunBuilder(tmp_path)
    for second in range(100):
        builder.step(decode=1, running=1)
        builder.request(f"r{second}", arrival_s=second * 0.999, emissions=[(second, 1)])
    builder.request("refused", arrival_s=50.0, status="refused", finish_s=50.0, reason="too long")
    found = summarise(builder.build(), slo=Slo({"ttft": 1.05}))["verdict"]["text"]
    assert found == (
        "Keeps up: 1.02 req/s arrive and 0.991 finish meanwhile. But 1 of 101 requests (1.0%) failed. But 50 of 101 "
        "requests (49.5%) missed the objectives."
    )
