"""`python -m sim replay`, in this process."""

import json
import time
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from analysis.run import load
from sim.replay_settings import ReplaySettings
from tests.sim.command import ROOT, command, replay, row, write_rows
from traces import read_trace


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    rows = [row(), row(0, 30, 2), row(100, 40, 3)]
    return write_rows(tmp_path / "trace.jsonl", *rows)


def _settings(run: Path) -> dict[str, Any]:
    settings: dict[str, Any] = load(run).meta["settings"]
    return settings


def test_prints_a_table_without_colour_and_notes_beside_it(trace: Path) -> None:
    done = replay(trace, "--block-size", 32)

    assert done.notes == [
        "Read as native JSON lines (Mooncake fields), timestamp and delay in milliseconds. Format native, recognised "
        "by its fields timestamp, input_length, output_length.",
        "3 requests, first turns over 0.100 s, 30 a second; prompts of 30.0 and outputs of 3.0 tokens on average.",
        "Step times are the roofline's; with --block-size 16 they would be calibrated.",
    ]
    assert done.out.startswith("============ Serving Benchmark Result ============\n")
    assert "Successful requests:                     3\n" in done.out
    assert "Total generated tokens:                  9\n" in done.out
    assert "\x1b" not in done.out


def test_without_flags_step_times_are_calibrated_and_nothing_better_is_named(trace: Path) -> None:
    done = replay(trace)

    assert "Qwen3-8B on 1 x H200 (fitted), policy" in done.out
    assert not any("Step times" in note for note in done.notes)


def test_json_is_all_of_stdout_and_equals_the_summary_of_the_run(trace: Path, tmp_path: Path) -> None:
    done = replay(trace, "--json", "--output", tmp_path / "run")

    assert done.summary == load(tmp_path / "run").summary
    assert done.summary["completed"] == 3
    assert done.summary["total_output_tokens"] == 9
    assert done.summary["complete"] is True


def test_output_is_a_whole_run_directory(trace: Path, tmp_path: Path) -> None:
    path = tmp_path / "deep" / "run"
    replay(trace, "-o", path)
    run = load(path)

    assert {file.name for file in path.iterdir()} == {
        "meta.json",
        "trace.jsonl.zst",
        "steps.parquet",
        "events.parquet",
        "requests.parquet",
        "summary.json",
    }
    assert run.is_complete
    assert run.meta["num_kv_blocks"] == 400
    assert run.meta["hardware"] == {"kind": "simulated", "model": "Qwen3-8B", "gpu": "H200", "num_gpus": 1}
    assert run.meta["graph_sizes"][:4] == [1, 2, 4, 8]
    assert run.meta["mixed_graph_sizes"] == [16, 32, 64, 128, 192, 256, 288, 320, 352]
    assert run.meta["settings"]["max_model_len"] == 40960
    assert run.meta["settings"]["chunked_prefill"] is True
    assert run.table("requests").column("status").to_pylist() == ["finished"] * 3


def test_what_is_kept_is_told(trace: Path, tmp_path: Path) -> None:
    assert (
        replay(trace, "-o", tmp_path / "run").notes[-1].startswith(f"The run is kept in {tmp_path / 'run'}: `python -m")
    )


def test_trace_as_run_is_kept(trace: Path, tmp_path: Path) -> None:
    replay(trace, "--output", tmp_path / "run", "--rate-scale", 2, "--limit", 2, "--trace-block-size", 16)
    kept = read_trace(tmp_path / "run" / "trace.jsonl.zst")

    assert [request.arrival_s for request in kept.requests] == [0.0, 0.0]
    assert kept.digest == load(tmp_path / "run").meta["trace"]["digest"]
    assert kept.block_size == 16


def test_without_output_nothing_is_left_behind(trace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))

    assert replay(trace).code == 0
    assert list(scratch.iterdir()) == []


def test_empty_directory_may_be_the_output(trace: Path, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()

    assert replay(trace, "--output", tmp_path / "run").code == 0


@pytest.mark.parametrize(
    ("flags", "setting", "value"),
    [
        (["--backend", "sim"], "backend", "sim"),
        (["--time-unit", "us"], "time_unit", "us"),
        (["--max-delay", "10s"], "max_delay_s", 10.0),
        (["--model", "Qwen3-0.6B"], "model", "Qwen3-0.6B"),
        (["--gpu", "RTX 4090", "--model", "Qwen3-0.6B"], "gpu", "RTX 4090"),
        (["--tp", "2"], "tp", 2),
        (["--block-size", "32"], "block_size", 32),
        (["--num-blocks", "99"], "num_blocks", 99),
        (["--memory-utilization", "0.5"], "memory_utilization", 0.5),
        (["--max-num-seqs", "2"], "max_num_seqs", 2),
        (["--max-num-batched-tokens", "64"], "max_num_batched_tokens", 64),
        (["--max-model-len", "100"], "max_model_len", 100),
        (["--policy", "nano-vllm"], "policy", "nano-vllm"),
        (["--scheduling-policy", "priority"], "scheduling_policy", "priority"),
        (["--no-prefix-caching"], "prefix_caching", False),
        (["--prefix-caching"], "prefix_caching", True),
        (["--no-chunked-prefill", "--max-model-len", "100"], "chunked_prefill", False),
        (["--long-prefill-token-threshold", "16"], "long_prefill_token_threshold", 16),
        (["--watermark", "0.05"], "watermark", 0.05),
        (["--no-reserve-full-prompt"], "reserve_full_prompt", False),
        (["--vllm-version", "0.25"], "vllm_version", "0.25"),
        (["--format", "native"], "trace_format", "native"),
        (["--trace-block-size", "64"], "trace_block_size", 64),
        (["--start", "50ms"], "start_s", 0.05),
        (["--end", "0.05s"], "end_s", 0.05),
        (["--limit", "1"], "limit", 1),
        (["--rate-scale", "4"], "rate_scale", 4.0),
        (["--oversize", "truncate"], "oversize", "truncate"),
        (["--seed", "7"], "seed", 7),
        (["--pace", "virtual"], "pace", "virtual"),
        (["--warmup", "2min"], "warmup_s", 120.0),
        (["--slo", "ttft=1s"], "slo", "ttft=1s"),
    ],
)
def test_flag_becomes_a_setting_of_the_run(
    flags: list[str], setting: str, value: object, trace: Path, tmp_path: Path
) -> None:
    done = replay(trace, *flags, "--output", tmp_path / "run")

    assert done.code == 0, done.err
    assert _settings(tmp_path / "run")[setting] == value


@pytest.mark.parametrize(
    ("flags", "num_completed"),
    [([], 3), (["--limit", "2"], 2), (["--start", "50ms"], 1), (["--end", "50ms"], 2), (["--start", "0s"], 3)],
)
def test_window_chooses_requests(flags: list[str], num_completed: int, trace: Path) -> None:
    assert replay(trace, "--json", *flags).summary["completed"] == num_completed


def test_window_begins_at_clock_zero(trace: Path, tmp_path: Path) -> None:
    replay(trace, "--start", "50ms", "--output", tmp_path / "run")

    (arrival_s,) = load(tmp_path / "run").table("requests").column("arrival_s").to_pylist()
    assert arrival_s == pytest.approx(0.05, abs=1e-8)


def test_rate_scale_divides_the_arrivals(trace: Path, tmp_path: Path) -> None:
    replay(trace, "--rate-scale", 4, "--output", tmp_path / "run")

    arrivals_s = load(tmp_path / "run").table("requests").column("arrival_s").to_pylist()
    assert arrivals_s == pytest.approx([0.0, 0.0, 0.025], abs=1e-8)


def test_request_rate_of_a_trace_with_times_names_the_factor_for_it(tmp_path: Path) -> None:
    timed = write_rows(tmp_path / "timed.jsonl", *(row(500 * number) for number in range(21)))
    error = replay(timed, "--request-rate", 5).error

    assert "timed.jsonl has times of its own, 2.1 a second on average; --rate-scale 2.381 in its place" in error
    assert "2.2 a second on average; --rate-scale 2.273" in replay(timed, "--request-rate", 5, "--limit", 11).error


def test_request_rate_of_a_trace_whose_times_are_all_one_says_what_it_is_for(tmp_path: Path) -> None:
    error = replay(write_rows(tmp_path / "flat.jsonl", row(), row()), "--request-rate", 5).error

    assert "a trace of format native has no use for it; it is for sharegpt, " in error
    assert "The times of format native are scaled by --rate-scale instead." in error


def test_flags_win_over_the_config_file_and_that_over_the_other_run(trace: Path, tmp_path: Path) -> None:
    replay(trace, "--max-num-seqs", 5, "--seed", 5, "--block-size", 8, "--output", tmp_path / "first")
    config = tmp_path / "settings.toml"
    config.write_text('max-num-seqs = 6\nseed = 6\nwarmup = "3s"\n')

    done = command(
        "replay", trace, "--like", tmp_path / "first", "--config", config, "--seed", 7, "-o", tmp_path / "second"
    )

    assert done.code == 0, done.err
    settings = _settings(tmp_path / "second")
    assert (settings["block_size"], settings["max_num_seqs"], settings["seed"]) == (8, 6, 7)
    assert (settings["num_blocks"], settings["warmup_s"]) == (400, 3.0)


def test_slo_and_warmup_appear_in_the_summary_and_the_table(trace: Path) -> None:
    flags = ("--slo", "ttft=1us,e2e=1h", "--warmup", "1ms")
    summary = replay(trace, "--json", *flags).summary

    assert summary["slo"] == {"ttft_s": 1e-6, "e2e_s": 3600.0}
    assert summary["slo_attainment_by_metric"] == {"ttft": 0.0, "e2e": 1.0}
    assert summary["slo_attainment"] == 0.0
    assert summary["steady_state"]["warmup_s"] == 0.001
    table = replay(trace, *flags).out
    assert "TTFT within 0.001 ms (%):                0.0\n" in table
    assert "Steady State" in table


def test_policy_of_ones_own_from_the_examples(tmp_path: Path) -> None:
    """Three come while the first runs; the longest of them came first and is admitted last."""
    rows = [row(0, 64, 2), row(1, 60, 2), row(2, 40, 2), row(3, 20, 2)]
    trace = write_rows(tmp_path / "trace.jsonl", *rows)
    policy = ROOT / "examples" / "policies" / "shortest_prompt_first.py"
    done = replay(
        trace, "--policy", f"{policy}:ShortestPromptFirst", "--max-num-batched-tokens", 64, "-o", tmp_path / "run"
    )

    assert done.code == 0, done.err
    events = load(tmp_path / "run").table("events").to_pylist()
    assert [event["request_id"] for event in events if event["kind"] == "admitted"] == ["r0", "r3", "r2", "r1"]


def test_nano_vllm_decides_otherwise_than_vllm(trace: Path) -> None:
    digests = {replay(trace, "--json", "--policy", name).summary["decision_digest"] for name in ("vllm", "nano-vllm")}

    assert len(digests) == 2


def test_wall_pace_takes_at_least_the_span_of_the_trace(tmp_path: Path) -> None:
    trace = write_rows(tmp_path / "trace.jsonl", row(0), row(250), row(500))
    start = time.perf_counter()
    summary = replay(trace, "--pace", "wall", "--json").summary
    wall_s = time.perf_counter() - start

    assert wall_s >= 0.5
    assert summary["wall_s"] >= 0.5
    assert summary["completed"] == 3
    assert 0 <= summary["mean_lag_s"] <= summary["max_lag_s"] < summary["wall_s"]


def test_wall_and_virtual_pace_decide_alike(trace: Path) -> None:
    wall = replay(trace, "--pace", "wall", "--json").summary
    virtual = replay(trace, "--pace", "virtual", "--json").summary

    assert {name for name in wall if wall[name] != virtual[name]} <= {"wall_s", "mean_lag_s", "max_lag_s"}
    assert (virtual["mean_lag_s"], virtual["max_lag_s"]) == (0.0, 0.0)


def test_trace_in_another_format_is_recognised(tmp_path: Path) -> None:
    trace = tmp_path / "azure.csv"
    trace.write_text("TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.6805900,374,44\n")

    assert replay(trace, "--json").summary["total_output_tokens"] == 44


def test_sheet_files_stand_for_names(trace: Path, tmp_path: Path) -> None:
    sheets = ROOT / "backends" / "simulated" / "sheets"
    named = replay(trace, "--json", "--model", "qwen3-1.7b", "--gpu", "l40s").summary
    by_file = replay(
        trace, "--json", "--model", sheets / "models" / "qwen3-1.7b.toml", "--gpu", sheets / "gpus" / "l40s.toml"
    ).summary

    assert by_file["mean_ttft_ms"] == named["mean_ttft_ms"]


def test_seed_changes_nothing_where_no_prompt_is_shared(trace: Path) -> None:
    first, second = (replay(trace, "--json", "--seed", seed).summary for seed in (1, 2))

    assert {name for name in first if first[name] != second[name]} <= {"wall_s"}


def test_help_names_every_setting_and_its_default() -> None:
    text = command("replay", "--help").out
    flags = {
        "trace_format": "format",
        "warmup_s": "warmup",
        "start_s": "start",
        "end_s": "end",
        "max_delay_s": "max-delay",
    }
    names = {field.name for field in fields(ReplaySettings)} - {"graph_sizes", "mixed_graph_sizes"}

    assert [name for name in names if f"--{flags.get(name, name).replace('_', '-')}" not in text] == []
    assert "[what fits into memory]" in text
    assert "[fail]" in text


def test_summary_of_a_run_is_plain_json(trace: Path) -> None:
    def refuse(name: str) -> float:
        raise AssertionError(f"{name} is not JSON")

    json.loads(replay(trace, "--json").out, parse_constant=refuse)
