"""Rates and windows of the runs for the comparison with a GPU, found by simulation."""

from pathlib import Path

import pytest

from benchmarks.fidelity.measurement import Measurement
from benchmarks.fidelity.run_plan import make_plan, planned, read_plan
from sim.parts import make_parts
from sim.profile_command import take_profile
from sim.profiling.profile_file import Profile, write_profile
from sim.replay_settings import ReplaySettings
from tests.benchmarks.test_fidelity import EVEN, bench


def test_a_run_that_would_take_too_long_gets_a_shorter_window(tmp_path: Path) -> None:
    # 390 requests at once take about 390 / rate; a quarter of that time is for about a quarter of them.
    rate = bench(tmp_path).sustained_rate(EVEN)
    whole = planned(bench(tmp_path), EVEN, 10 * rate, 39 / rate, max_run_s=1e9)
    short = planned(bench(tmp_path), EVEN, 10 * rate, 39 / rate, max_run_s=whole.expected_s / 4)
    assert whole.window_s == pytest.approx(39 / rate, abs=1e-3)
    assert short.window_s == pytest.approx(whole.window_s / 4, rel=0.1)
    assert short.expected_s <= whole.expected_s / 4
    assert not (tmp_path / "run").exists()


def test_a_plan_is_made_from_the_profile_alone_and_only_once(tmp_path: Path) -> None:
    parts = make_parts(ReplaySettings(model="Qwen3-0.6B", num_blocks=200, block_size=16, max_num_seqs=4))
    taken = take_profile(parts, 1e9)
    # As if it were measured on a GPU: what comes from a simulation is not fitted to.
    meta = taken.meta | {"hardware": {"kind": "cuda", "gpu": "NVIDIA H200"}}
    meta["settings"] = meta["settings"] | {"backend": "gpu"}
    write_profile(Profile(taken.columns, meta), tmp_path / "profile.parquet")
    said: list[str] = []

    make_plan(tmp_path, tmp_path, [Measurement(EVEN, 70), Measurement(EVEN, 70, repeat=2)], 2.0, 50.0, said.append)
    plan = read_plan(tmp_path)
    assert set(plan) == {"even-070"}
    assert plan["even-070"].window_s == 2.0
    assert plan["even-070"].rate == pytest.approx(0.7 * bench(tmp_path).sustained_rate(EVEN), rel=0.1)
    assert 2.0 < plan["even-070"].expected_s < 3.0

    make_plan(tmp_path, tmp_path, [Measurement(EVEN, 70)], 99.0, 50.0, said.append)
    assert read_plan(tmp_path) == plan
    assert len(said) == 1
