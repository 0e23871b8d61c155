"""The same inputs give the same run, and recorded step times give the run that they were recorded in."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from analysis.run import Run, load
from benchmarks.fidelity.borrowed_backend import BorrowedBackend
from sim.cost_source import recorded_model
from sim.interrupt import Interrupt
from sim.parts import make_parts
from sim.recorder import Recorder
from sim.replay import load_trace, replay
from sim.replay_settings import ReplaySettings
from tests.sim.command import command, in_process, row, write_rows
from traces import GeneratorSettings, generate, write_trace

CLOCKS = {"wall_s", "mean_lag_s", "max_lag_s"}
# A pool so small that requests are preempted, and a budget so small that prompts are cut.
SMALL = ("--num-blocks", 60, "--max-num-batched-tokens", 128, "--max-num-seqs", 12, "--max-model-len", 600)


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sixty requests with shared prefixes, sessions and prompts that are too long."""
    path = tmp_path_factory.mktemp("trace") / "trace.jsonl"
    rows: list[dict[str, Any]] = []
    for number in range(60):
        ids = [number % 3, 10 + number % 7, 100 + number]
        more: dict[str, Any] = {"hash_ids": ids} if number % 4 else {}
        if number % 5 == 0:
            more["session_id"] = f"s{number % 10}"
        is_later = number >= 10 and "session_id" in more
        when = {"timestamp": None, "delay": 3.5 * number} if is_later else {}
        rows.append(row(12.5 * number, 100 + 7 * number % 40, 5 + 3 * number % 50, **more) | when)
    rows.append(row(100, 700, 3))
    return write_rows(path, *rows)


@pytest.fixture(scope="module")
def recorded(trace: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("recorded") / "run"
    done = command("replay", trace, *SMALL, "--trace-block-size", 48, "--output", path)
    assert done.code == 0, done.err
    return path


def _assert_equal_tables(first: Run, second: Run) -> None:
    for name, table in first.tables._asdict().items():
        assert table.equals(getattr(second.tables, name)), name


def _without(names: set[str], values: dict[str, Any] | None) -> dict[str, Any]:
    assert values is not None
    return {name: value for name, value in values.items() if name not in names}


def test_the_trace_of_these_tests_brings_about_what_matters(recorded: Path) -> None:
    summary = load(recorded).summary
    assert summary is not None

    assert summary["num_preemptions"] > 0
    assert summary["prefix_hit_tokens"] > 0
    assert summary["failed"] == 1
    kinds = set(load(recorded).table("events").column("kind").to_pylist())
    assert kinds >= {"admitted", "resumed", "preempted", "chunk", "blocks", "finished"}


def test_two_processes_with_different_hash_seeds_make_the_same_run(trace: Path, tmp_path: Path) -> None:
    for seed in ("1", "2"):
        arguments, how = in_process(
            "replay", trace, *SMALL, "--trace-block-size", 48, "--output", tmp_path / seed, hash_seed=seed
        )
        subprocess.run(arguments, check=True, capture_output=True, **how)
    first, second = load(tmp_path / "1"), load(tmp_path / "2")

    _assert_equal_tables(first, second)
    assert _without(CLOCKS, first.summary) == _without(CLOCKS, second.summary)
    assert _without({"started_at"}, first.meta) == _without({"started_at"}, second.meta)
    for name in ("trace.jsonl.zst", "steps.parquet", "events.parquet", "requests.parquet"):
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes()


def test_recorded_times_give_every_latency_to_the_bit(trace: Path, recorded: Path, tmp_path: Path) -> None:
    done = command(
        "replay", trace, "--trace-block-size", 48, "--cost", recorded, "--like", recorded, "-o", tmp_path / "again"
    )

    assert done.code == 0, done.err
    first, again = load(recorded), load(tmp_path / "again")
    _assert_equal_tables(first, again)
    apart = CLOCKS | {"cost_model", "description"}
    assert _without(apart, again.summary) == _without(apart, first.summary)
    assert again.summary is not None
    assert again.summary["description"].startswith("Qwen3-8B (recorded step times), ")


def test_recorded_times_do_not_depend_on_the_hardware_that_is_named(
    trace: Path, recorded: Path, tmp_path: Path
) -> None:
    flags = ("--trace-block-size", 48, "--cost", recorded, "--like", recorded, "--gpu", "l40s", "--model", "qwen3-0.6b")
    assert command("replay", trace, *flags, "-o", tmp_path / "again").code == 0

    _assert_equal_tables(load(recorded), load(tmp_path / "again"))


@pytest.mark.parametrize(
    "change",
    [
        ("--max-num-batched-tokens", 127),
        ("--max-num-seqs", 3),
        ("--num-blocks", 59),
        ("--no-prefix-caching",),
        ("--policy", "nano-vllm"),
        ("--block-size", 8),
        ("--rate-scale", 1.3),
    ],
)
def test_another_setting_fails_with_the_first_step_that_differs(
    change: tuple[object, ...], trace: Path, recorded: Path
) -> None:
    flags = ("--trace-block-size", 48, "--cost", recorded, "--like", recorded, *change)
    error = command("replay", trace, *flags).error

    number = int(error.split()[1])
    assert error.startswith(f"Step {number} differs from the recorded run: ")
    assert " here and " in error
    assert 0 <= number < len(load(recorded).table("steps"))


def test_first_step_that_differs_is_the_first(recorded: Path, trace: Path) -> None:
    """With a budget of one token less, the first step that used the whole budget differs, and no earlier one."""
    steps = load(recorded).table("steps").to_pylist()
    full = next(row["step"] for row in steps if row["num_prefill_tokens"] + row["num_decode_seqs"] == 128)
    flags = ("--trace-block-size", 48, "--cost", recorded, "--like", recorded, "--max-num-batched-tokens", 127)

    assert command("replay", trace, *flags).error.startswith(f"Step {full} differs from the recorded run: ")


def test_run_that_goes_on_beyond_the_recorded_one_says_so(tmp_path: Path) -> None:
    short = write_rows(tmp_path / "short.jsonl", row())
    long = write_rows(tmp_path / "long.jsonl", row(), row(1000))
    command("replay", short, "--num-blocks", 9, "--output", tmp_path / "run")
    error = command("replay", long, "--cost", tmp_path / "run", "--like", tmp_path / "run").error

    assert error.startswith("The recorded run ends after 4 steps, but this run goes on with ")


def test_run_that_stops_on_a_step_that_differs_is_kept_as_partial(trace: Path, recorded: Path, tmp_path: Path) -> None:
    flags = ("--trace-block-size", 48, "--cost", recorded, "--like", recorded, "--max-num-batched-tokens", 127)
    assert command("replay", trace, *flags, "--output", tmp_path / "run").error

    run = load(tmp_path / "run")
    assert not run.is_complete
    assert run.summary is not None
    assert run.summary["complete"] is False
    assert len(run.table("requests")) == 61


def test_steps_without_rows_and_eager_steps_are_recorded_and_replayed(tmp_path: Path) -> None:
    """A lone request that outgrows the pool fails in a step without rows; prefill steps may have no graph size."""
    trace = write_rows(tmp_path / "trace.jsonl", row(0, 16, 40), row(2000, 16, 4))
    (tmp_path / "eager.toml").write_text("mixed_graph_sizes = []")
    flags = ("--num-blocks", 2, "--config", tmp_path / "eager.toml")
    command("replay", trace, *flags, "--output", tmp_path / "first")
    steps = load(tmp_path / "first").table("steps")
    assert steps.column("graph_size").null_count == 3
    assert 0.0 in steps.column("duration_s").to_pylist()

    command("replay", trace, "--cost", tmp_path / "first", "--like", tmp_path / "first", "--output", tmp_path / "again")

    _assert_equal_tables(load(tmp_path / "first"), load(tmp_path / "again"))


def test_recorded_model_counts_what_is_left(recorded: Path) -> None:
    steps = load(recorded).table("steps")
    num_empty = sum(row["num_sampled"] + row["num_prefill_seqs"] == 0 for row in steps.to_pylist())

    assert recorded_model(recorded).num_left == len(steps) - num_empty


def test_content_ids_are_hit_whatever_the_two_block_sizes(tmp_path: Path) -> None:
    """Two prompts share 3 x 100 tokens; blocks of 48 cover 288 of them."""
    trace = write_rows(
        tmp_path / "trace.jsonl", row(0, 350, 1, hash_ids=[1, 2, 3, 4]), row(0, 350, 1, hash_ids=[1, 2, 3, 5])
    )
    summary = command(
        "replay", trace, "--trace-block-size", 100, "--block-size", 48, "--num-blocks", 40, "--json"
    ).summary

    assert (summary["prefix_query_tokens"], summary["prefix_hit_tokens"]) == (700, 288)


def test_prompts_without_ids_share_nothing(tmp_path: Path) -> None:
    trace = write_rows(tmp_path / "trace.jsonl", row(0, 350, 1), row(0, 350, 1))

    assert command("replay", trace, "--num-blocks", 90, "--json").summary["prefix_hit_tokens"] == 0


def test_run_directory_replays_like_itself(recorded: Path, tmp_path: Path) -> None:
    """The canonical trace in a run directory is a trace, and gives the same run."""
    done = command("replay", recorded / "trace.jsonl.zst", "--like", recorded, "--output", tmp_path / "again")

    assert done.code == 0, done.err
    first, again = load(recorded), load(tmp_path / "again")
    assert first.meta["trace"]["digest"] == again.meta["trace"]["digest"]
    assert first.table("steps").equals(again.table("steps"))
    assert first.table("events").equals(again.table("events"))


def test_summary_is_json_without_nan(recorded: Path) -> None:
    def refuse(name: str) -> float:
        raise AssertionError(f"{name} is not JSON")

    for name in ("summary.json", "meta.json"):
        json.loads((recorded / name).read_text(), parse_constant=refuse)


@contextmanager
def _generated(path: Path) -> Iterator[Path]:
    write_trace(generate(GeneratorSettings(num_requests=5)), path)
    yield path


def test_replay_as_a_library_reports_progress(tmp_path: Path) -> None:
    calls: list[tuple[int, float]] = []
    with _generated(tmp_path / "trace.jsonl") as path:
        settings = ReplaySettings(num_blocks=5000)
        summary = replay(
            load_trace(path, settings),
            {},
            make_parts(settings),
            tmp_path / "run",
            Interrupt(),
            lambda num_ended, clock_s: calls.append((num_ended, clock_s)),
        )

    assert calls[-1][0] == 5
    assert calls == sorted(calls)
    assert summary["completed"] == 5


def test_a_disk_that_is_full_at_the_end_does_not_keep_the_backend(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed: list[str] = []

    class Watched(BorrowedBackend):
        def close(self) -> None:
            closed.append("backend")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Recorder, "finish", full)
    settings = ReplaySettings(num_blocks=5000)
    parts = make_parts(settings)
    engine = replace(parts.engine, backend=Watched(parts.engine.backend, 5000))
    with _generated(tmp_path / "trace.jsonl") as path, pytest.raises(OSError, match="No space left"):
        replay(
            load_trace(path, settings),
            {},
            replace(parts, engine=engine),
            tmp_path / "run",
            Interrupt(),
            lambda _, __: None,
        )
    assert closed == ["backend"]
