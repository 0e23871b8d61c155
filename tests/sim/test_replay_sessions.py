"""Recorded sessions on the command line: delay rules, caps, and how much of the load is closed loop."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from analysis.run import load
from tests.sim.command import replay

CALLS = [(0.0, None, 2.0), (20.0, 15.0, 3.0), (50.0, 27.0, 1.0)]  # start, think time, service time


@pytest.fixture
def sessions(tmp_path: Path) -> Path:
    """A Weka session of three calls, and one of a single call."""
    calls = [
        {"t": t, "type": "s", "in": 64, "out": 4, "hash_ids": [1], "api_time": service, "think_time": think}
        for t, think, service in CALLS
    ]
    rows = [{"id": name, "block_size": 64, "requests": some} for name, some in (("a", calls), ("b", calls[:1]))]
    path = tmp_path / "sessions.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def gaps_s(run: Path) -> list[float]:
    """Time between the end of a turn and the arrival of the next, of session a."""
    rows: list[dict[str, Any]] = load(run).table("requests").sort_by("index").to_pylist()
    turns = [row for row in rows if row["session_id"] == "a"]
    return [later["arrival_s"] - turn["finish_s"] for turn, later in pairwise(turns)]


@pytest.mark.parametrize(
    ("flags", "gaps"),
    [
        ([], [15, 27]),
        (["--delay-rule", "original"], [20, 30]),
        (["--delay-rule", "api-scaled", "--api-time-scale", "0.5"], [16, 28.5]),
        (["--max-delay", "20s"], [15, 20]),
        (["--delay-rule", "original", "--max-delay", "1500ms"], [1.5, 1.5]),
    ],
)
def test_a_turn_comes_its_delay_after_the_turn_before_has_ended(
    sessions: Path, tmp_path: Path, flags: list[str], gaps: list[float]
) -> None:
    done = replay(sessions, *flags, "--json", "--output", tmp_path / "run")
    assert done.summary["completed"] == 4
    assert gaps_s(tmp_path / "run") == gaps
    assert done.summary["closed_request_share"] == done.summary["closed_token_share"] == 0.5
    assert done.summary["open_request_share"] == 0.5


def test_the_open_rule_has_no_closed_loop(sessions: Path, tmp_path: Path) -> None:
    done = replay(sessions, "--delay-rule", "open", "--json", "--output", tmp_path / "run")
    assert done.summary["closed_request_share"] == 0
    arrivals = load(tmp_path / "run").table("requests").sort_by("index").column("arrival_s").to_pylist()
    assert arrivals == [0, 0, 20, 50]


def test_sessions_can_be_spread(sessions: Path) -> None:
    done = replay(sessions, "--request-rate", "0.5", "--seed", "7")
    assert "The file gives no times: sessions arrive as a Poisson process, 0.5 a second, seed 7." in done.notes
    assert "Open / closed loop (% of requests):      50.0 / 50.0" in done.out


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        (
            ["--delay-rule", "fast"],
            "the delay rule is 'fast', but it must be one of think-only, original, api-scaled, open",
        ),
        (["--api-time-scale", "2"], "an API time scale (2.0) belongs to delay rule api-scaled; give that too"),
        (["--time-unit", "ms"], "time unit is 'ms', but a trace of format weka has no use for it"),
        (["--tokenizer", "x"], "tokenizer is 'x', but a trace of format weka has no use for it; it is for sharegpt"),
        (["--request-rate", "0"], "the request rate is 0.0 a second, but it must be a number above 0"),
        (["--max-delay", "1e9s"], "the longest delay is 1000000000.0 s, but it must be from 0 to 4194304 s"),
        (["--format", "azure2023"], "trace format 'azure2023' is not known; known are auto, azure, bailian"),
    ],
)
def test_what_does_not_fit_is_refused(sessions: Path, flags: list[str], sentence: str) -> None:
    assert sentence in replay(sessions, *flags).error
