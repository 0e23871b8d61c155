"""From a folder of results to tables, with a made-up GPU whose step times are known."""

import json
from pathlib import Path
from typing import Any

import pytest

from backends.simulated.calibration_file import load_calibration
from benchmarks.fidelity.evaluate import main
from benchmarks.fidelity.metric_error import METRICS, MetricError
from sim.profiling.profile_file import Profile, read_profile, write_profile
from tests.sim.calibration_files import calibration_file
from tests.sim.command import command
from traces import GeneratorSettings, generate, write_trace

FLAGS = (
    "--model", "Qwen3-0.6B", "--num-blocks", "300", "--max-num-seqs", "8", "--max-model-len", "1024",
    "--max-num-batched-tokens", "256",
)  # fmt: skip
GPU = {"kind": "cuda", "gpu": "NVIDIA H200", "num_gpus": 1}


def called_a_gpu(meta: dict[str, Any]) -> dict[str, Any]:
    return meta | {"hardware": GPU, "settings": meta["settings"] | {"backend": "gpu", "cost": None}}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A profile, two runs of one trace and one of another workload."""
    folder = tmp_path_factory.mktemp("results")
    cost = calibration_file(folder)
    taken = folder / "taken.parquet"
    assert command("profile", "--backend", "sim", *FLAGS, "--cost", cost, "--output", taken).code == 0
    profile = read_profile(taken)
    write_profile(Profile(profile.columns, called_a_gpu(profile.meta)), folder / "profile.parquet")
    trace = folder / "trace.jsonl"
    lengths = GeneratorSettings(seed=3, num_requests=60, rate=30.0, input_mean=120, output_mean=30, output_max=200)
    write_trace(generate(lengths), trace)
    for name in ("made-070", "made-070-repeat2", "other-110"):
        run = folder / "runs" / name
        assert command("replay", trace, *FLAGS, "--cost", cost, "--output", run).code == 0
        path = run / "meta.json"
        path.write_text(json.dumps(called_a_gpu(json.loads(path.read_text()))))
    return folder


@pytest.fixture(scope="module")
def tables(folder: Path) -> str:
    output = folder / "fidelity.md"
    main(folder, output=output, plots=folder / "plots", only="made", cost=None, work=folder / "work")
    return output.read_text()


def test_a_fit_to_steps_without_noise_meets_the_targets(tables: str) -> None:
    lines = [line for line in tables.splitlines() if line.startswith("| made-070 ")]
    metrics, spread, bias = lines
    assert metrics.endswith("| met |")
    assert "**" not in metrics
    assert set(spread.replace("|", " ").split()[1:]) == {"0.00"}
    percents = [float(cell.split()[0]) for cell in bias.split("|")[2:-1]]
    *_, of_all, of_device, of_host = percents
    assert abs(of_all) < 0.5
    assert of_device + of_host == pytest.approx(of_all, abs=0.02)
    # A class of a few dozen steps: what its chunks read and compute can hardly be told apart.
    assert max(map(abs, percents)) < 2


def test_a_cost_model_has_seen_no_run_of_the_workload_that_it_is_tested_on(folder: Path, tables: str) -> None:
    assert tables
    kept = load_calibration(folder / "work" / "without-made.toml")
    assert [source.name for source in kept.sources] == ["profile.parquet", "other-110"]


def test_the_simulated_runs_are_kept(folder: Path, tables: str) -> None:
    assert tables
    assert json.loads((folder / "work" / "made-070" / "summary.json").read_text())["cost_model"]["kind"] == "fitted"


def test_residuals_are_drawn_for_each_class(folder: Path, tables: str) -> None:
    assert tables
    drawn = {path.name for path in (folder / "plots").iterdir()}
    assert {"residuals-decode-graph.png", "residuals-mixed-graph.png"} <= drawn


TPOT, OUTPUT, TTFT, _, E2E = METRICS


@pytest.mark.parametrize(
    ("error", "share", "is_met"),
    [
        (MetricError(TPOT, 10.0, 10.19), 70, True),
        (MetricError(TPOT, 10.0, 9.79), 70, False),
        (MetricError(TPOT, 10.0, 20.0), 110, None),  # no target at saturation
        (MetricError(OUTPUT, 1000.0, 981.0), 70, True),
        (MetricError(OUTPUT, 1000.0, 981.0), 110, False),
        (MetricError(TTFT, 20.0, 22.9), 30, True),  # 3 ms are allowed
        (MetricError(TTFT, 20.0, 23.1), 30, False),
        (MetricError(TTFT, 200.0, 209.9), 30, True),
        (MetricError(TTFT, 1000.0, 1099.0), 110, True),
        (MetricError(TTFT, 1000.0, 1150.0), 110, False),
        (MetricError(TTFT, 1000.0, 1150.0, spread=80.0), 110, True),  # within twice the machine's own spread
        (MetricError(E2E, 1000.0, 1021.0), 70, False),
        (MetricError(E2E, None, 1021.0), 70, None),
    ],
)
def test_targets(error: MetricError, share: int, is_met: bool | None) -> None:
    assert error.is_met(share) is is_met


def test_differences_have_a_sign() -> None:
    error = MetricError(TPOT, 10.0, 9.0)
    assert (error.difference, error.percent) == (-1.0, -10.0)
    assert MetricError(TPOT, 0.0, 9.0).percent is None
