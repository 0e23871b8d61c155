"""A real model, tiny and on the CPU, behind the same command line."""

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from analysis.run import Run, load
from sim.errors import SimError
from sim.parts import make_parts
from sim.replay_settings import ReplaySettings
from tests.sim.command import command, row, write_rows
from tests.sim.tiny_qwen3 import tiny_engine


@pytest.fixture(scope="module")
def flags(tmp_path_factory: pytest.TempPathFactory) -> tuple[object, ...]:
    """Random weights, a small pool and a small budget: preemptions, hits and chunks are sure to come."""
    engine = (*tiny_engine(tmp_path_factory.mktemp("model")), "--pace", "virtual")
    sizes = ("--block-size", 16, "--num-blocks", 8, "--max-num-batched-tokens", 32, "--max-model-len", 100)
    return *engine, *sizes, "--max-num-seqs", 4


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = [
        row(0, 20, 20, hash_ids=[1, 2]),
        row(0, 30, 12, hash_ids=[1, 3]),
        row(1, 40, 13, hash_ids=[1, 4, 5]),
        row(2, 40, 30),
        row(3, 100, 1),
    ]
    return write_rows(tmp_path_factory.mktemp("trace") / "trace.jsonl", *rows)


@pytest.fixture(scope="module")
def run(flags: tuple[object, ...], trace: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    path = tmp_path_factory.mktemp("real") / "run"
    done = command("replay", trace, "--trace-block-size", 16, *flags, "--output", path)
    assert done.code == 0, done.err
    return load(path)


_OF_THE_MACHINE = ("wall_s", "mean_lag_s", "max_lag_s", "host_probe_us")


def _without_clocks(summary: dict[str, Any] | None) -> dict[str, Any]:
    assert summary is not None
    return {name: value for name, value in summary.items() if name not in _OF_THE_MACHINE}


def test_real_run_is_recorded_like_any_other(run: Run) -> None:
    assert run.is_complete
    assert run.summary is not None
    assert (run.summary["completed"], run.summary["failed"]) == (4, 1)
    assert run.summary["total_output_tokens"] == 75
    assert run.summary["num_preemptions"] > 0
    assert run.summary["prefix_hit_tokens"] > 0
    assert 0.0 not in run.table("steps").column("duration_s").to_pylist()


def test_simulator_with_the_times_of_the_real_run_decides_and_lasts_alike_to_the_bit(
    run: Run, trace: Path, tmp_path: Path
) -> None:
    flags = ("--trace-block-size", 16, "--like", run.path, "--cost", run.path, "--backend", "sim")
    done = command("replay", trace, *flags, "--output", tmp_path / "simulated")

    assert done.code == 0, done.err
    simulated = load(tmp_path / "simulated")
    for name, table in run.tables._asdict().items():
        assert table.equals(getattr(simulated.tables, name)), name
    assert run.summary is not None
    named = {name: run.summary[name] for name in ("backend", "description", "cost_model")}
    assert _without_clocks(simulated.summary) | named == _without_clocks(run.summary)


def test_free_run_keeps_the_models_own_outputs(flags: tuple[object, ...], trace: Path, tmp_path: Path) -> None:
    done = command(
        "replay", trace, *flags, "--trace-block-size", 16, "--limit", 2, "--free-run", "-o", tmp_path / "run"
    )

    assert done.code == 0, done.err
    outputs = [json.loads(line) for line in (tmp_path / "run" / "outputs.jsonl").read_text().splitlines()]
    assert {output["request_id"]: len(output["token_ids"]) for output in outputs} == {"r0": 20, "r1": 12}
    assert all(0 <= token < 97 for output in outputs for token in output["token_ids"])


def test_without_torch_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def find(name: str) -> object:
        return None if name == "torch" else importlib.util.find_spec(name)

    monkeypatch.setattr("sim.real_engine.find_spec", find)
    with pytest.raises(SimError, match=r"pip install '\.\[gpu\]'"):
        make_parts(ReplaySettings(backend="gpu"))


def test_model_without_weights_is_refused() -> None:
    with pytest.raises(SimError, match=r"model is 'Qwen3-8B', which is no folder; give a folder .* or --load-format"):
        make_parts(ReplaySettings(backend="gpu"))
