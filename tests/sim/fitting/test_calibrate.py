from dataclasses import replace

import numpy as np

from sim.fitting.calibrate import calibrate
from sim.fitting.measured import Measured
from tests.sim.fitting.made_up import measured

META = {
    "settings": {"model": "Qwen3-0.6B", "tp": 1, "block_size": 256, "max_model_len": 40_960},
    "hardware": {"kind": "cuda", "gpu": "NVIDIA H200", "num_gpus": 1},
    "versions": {"torch": "2.11.0"},
}


def made(kind: str, num_steps: int) -> Measured:
    samples = measured(num_steps, seed=3)
    stretches = np.arange(num_steps) // 50 % 5 == 4
    return Measured(f"a {kind}", kind, META, replace(samples, is_held_out=stretches))


def test_a_long_run_counts_no_more_than_2000_steps_held_out_ones_among_them() -> None:
    calibration = calibrate([made("run", 9000)])
    assert 1950 <= calibration.sources[0].num_steps <= 2000
    assert 300 <= calibration.errors["all"].num_steps <= 500


def test_short_runs_and_profiles_count_whole() -> None:
    calibration = calibrate([made("profile", 2600), made("run", 1200)])
    assert [source.num_steps for source in calibration.sources] == [2600, 1200]
