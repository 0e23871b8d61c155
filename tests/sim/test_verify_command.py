"""`python -m sim verify` on runs that are whole: the scheduler decides again as it has decided."""

from pathlib import Path
from typing import Any

import pytest

from analysis.run import load
from tests.sim.command import ROOT, command, row, write_rows
from tests.sim.recorded_runs import busy_trace
from tests.sim.tiny_qwen3 import tiny_engine

# A pool so small that requests are preempted, and a budget so small that prompts are cut.
SMALL = ("--num-blocks", 60, "--max-num-batched-tokens", 128, "--max-num-seqs", 12, "--max-model-len", 600)


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return busy_trace(tmp_path_factory.mktemp("trace") / "trace.jsonl")


def _recorded(trace: Path, output: Path, *flags: object) -> dict[str, Any]:
    """Records a run; returns its summary."""
    done = command("replay", trace, "--trace-block-size", 48, *flags, "--output", output)
    assert done.code == 0, done.err
    summary = load(output).summary
    assert summary is not None
    return summary


def _identical(summary: dict[str, Any]) -> str:
    return (
        f"identical: {summary['num_steps']} steps, {summary['num_preemptions']} preemptions, "
        f"{summary['prefix_hit_tokens']} hit tokens\n"
    )


def _check(path: Path, summary: dict[str, Any]) -> None:
    done = command("verify", path)
    assert (done.code, done.out, done.err) == (0, _identical(summary), "")


@pytest.mark.parametrize(
    "flags",
    [
        SMALL,
        (*SMALL, "--policy", "nano-vllm"),
        (*SMALL, "--scheduling-policy", "priority"),
        (*SMALL, "--vllm-version", "0.25", "--watermark", 0.05, "--no-reserve-full-prompt"),
    ],
    ids=["vllm", "nano_vllm", "priority", "vllm_0.25"],
)
def test_run_under_pressure_is_identical(flags: tuple[object, ...], trace: Path, tmp_path: Path) -> None:
    summary = _recorded(trace, tmp_path / "run", *flags)
    assert summary["num_preemptions"] > 0
    assert summary["prefix_hit_tokens"] > 0
    assert summary["failed"] == 1

    _check(tmp_path / "run", summary)


@pytest.mark.parametrize(
    "flags",
    [
        ("--num-blocks", 12, "--block-size", 256),
        ("--num-blocks", 200, "--no-chunked-prefill", "--max-model-len", 600, "--max-num-batched-tokens", 600),
        (*SMALL, "--no-prefix-caching"),
        (*SMALL, "--long-prefill-token-threshold", 16),
        (*SMALL, "--start", "20ms", "--end", "120ms", "--rate-scale", 1.7),
        (*SMALL, "--limit", 41, "--rate-scale", 0.3, "--seed", 5),
        ("--num-blocks", 30, "--oversize", "truncate", "--max-model-len", 130),
        (*SMALL, "--policy", ROOT / "examples/policies/shortest_prompt_first.py:ShortestPromptFirst"),
        ("--num-blocks", 60, "--model", "qwen3-1.7b", "--gpu", "l40s", "--tp", 2),
    ],
)
def test_settings_come_from_the_run(flags: tuple[object, ...], trace: Path, tmp_path: Path) -> None:
    _check(tmp_path / "run", _recorded(trace, tmp_path / "run", *flags))


def test_pace_of_the_run_does_not_matter(trace: Path, tmp_path: Path) -> None:
    summary = _recorded(trace, tmp_path / "run", *SMALL, "--pace", "wall", "--limit", 30)

    _check(tmp_path / "run", summary)


def test_steps_without_rows_are_steps_too(tmp_path: Path) -> None:
    """A request that outgrows the pool fails in a step of no length."""
    trace = write_rows(tmp_path / "trace.jsonl", row(0, 16, 40), row(2000, 16, 4))
    summary = _recorded(trace, tmp_path / "run", "--num-blocks", 2)
    assert 0.0 in load(tmp_path / "run").table("steps").column("duration_s").to_pylist()

    _check(tmp_path / "run", summary)


def test_run_on_recorded_times_needs_the_other_run_no_more(trace: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    _recorded(trace, first, *SMALL)
    summary = _recorded(trace, second, "--like", first, "--cost", first)
    first.rename(tmp_path / "gone")

    _check(second, summary)


def test_several_runs_are_named(trace: Path, tmp_path: Path) -> None:
    paths = [tmp_path / "a", tmp_path / "b"]
    summaries = [_recorded(trace, path, *SMALL, "--limit", 10) for path in paths]

    done = command("verify", *paths)

    assert done.code == 0
    assert done.out == "".join(f"{p}: {_identical(s)}" for p, s in zip(paths, summaries, strict=True))


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> tuple[object, ...]:
    flags = tiny_engine(tmp_path_factory.mktemp("model"))
    return *flags, "--block-size", 16, "--num-blocks", 12, "--max-num-batched-tokens", 32, "--max-model-len", 160


@pytest.fixture(scope="module")
def short_trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = [
        row(0, 20, 20, hash_ids=[1]),
        row(0, 60, 12, hash_ids=[1, 3], priority=2),
        row(1, 70, 13, hash_ids=[1, 4], session_id="a"),
        row(2, 40, 30, priority=1),
        row(3, 160, 1),
        {"input_length": 90, "output_length": 9, "session_id": "a", "delay": 5, "hash_ids": [1, 4]},
        row(40, 20, 5, hash_ids=[1]),
    ]
    return write_rows(tmp_path_factory.mktemp("trace") / "trace.jsonl", *rows)


@pytest.mark.parametrize(
    "flags",
    [
        ("--policy", "vllm", "--pace", "virtual"),
        ("--policy", "nano-vllm", "--pace", "virtual"),
        ("--scheduling-policy", "priority", "--pace", "wall"),
        ("--policy", "nano-vllm", "--pace", "wall", "--free-run"),
        ("--policy", "vllm", "--pace", "virtual", "--free-run"),
    ],
    ids=["vllm", "nano_vllm", "priority_wall", "nano_vllm_wall_free", "vllm_free"],
)
def test_real_run_is_identical(
    flags: tuple[object, ...], engine: tuple[object, ...], short_trace: Path, tmp_path: Path
) -> None:
    summary = _recorded(short_trace, tmp_path / "run", *engine, *flags)
    assert summary["num_preemptions"] > 0
    assert summary["prefix_hit_tokens"] > 0
    assert summary["failed"] == 1

    _check(tmp_path / "run", summary)
