from dataclasses import replace

import numpy as np
import pytest

from backends.simulated.fitted_model import FittedModel
from backends.simulated.fitted_times import host_factor
from sim.errors import SimError
from sim.fitting.calibrate import calibrate
from sim.fitting.measured import Measured
from tests.sim.fitting.made_up import TRUTH, measured

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


def test_host_times_are_those_of_the_reference_speed_whatever_the_hosts_were() -> None:
    """One engine on two hosts, one of them 1.6 times as slow in all that it does."""
    quick = replace(made("run", 2000), host_probe_us=8.0)
    slow = replace(quick, samples=quick.samples.with_host(host_factor(1.28) / host_factor(0.8)), host_probe_us=12.8)
    alone, both = calibrate([quick]), calibrate([quick, slow])
    assert both.hardware["host_probe_us"] == pytest.approx(10.4)
    assert alone.hardware["host_probe_us"] == 8.0
    assert both.times.host.decode_us == pytest.approx(alone.times.host.decode_us, rel=1e-3)
    assert both.times.host.row_us == pytest.approx(alone.times.host.row_us, rel=1e-3)
    unknown = calibrate([replace(quick, host_probe_us=None)])
    assert unknown.times.host.decode_us == pytest.approx(host_factor(0.8) * alone.times.host.decode_us, rel=0.02)
    assert "host_probe_us" not in unknown.hardware


def test_launches_are_those_of_the_reference_speed_whatever_the_hosts_were() -> None:
    """Eager steps that wait for their launches take as many times as long as the host does, others as long as ever."""
    hosts = {speed: launched_by(speed) for speed in (0.8, 1.6)}
    found = calibrate([replace(run, host_probe_us=10.0 * speed) for speed, run in hosts.items()]).times
    assert found.launches.mixed_us == pytest.approx(TRUTH.launches.mixed_us, rel=0.02)
    assert found.launches.prompts_us == pytest.approx(TRUTH.launches.prompts_us, rel=0.02)
    for run in hosts.values():
        slow = found.on_host(1.6 if run is hosts[1.6] else 0.8)
        device_s = FittedModel(slow, None).step_times(run.samples.steps).device_s
        is_eager = run.samples.steps.graph_size == 0
        assert device_s[is_eager].sum() == pytest.approx(run.samples.times.device_s[is_eager].sum(), rel=0.01)


def launched_by(slowness: float) -> Measured:
    times = TRUTH.on_host(slowness)
    return replace(made("run", 2000), samples=measured(2000, seed=3, truth=times, noise=0.0))


def test_data_that_know_their_host_and_data_that_do_not_cannot_be_joined() -> None:
    with pytest.raises(SimError, match=r"^a run does not say how quick its host was"):
        calibrate([replace(made("profile", 300), host_probe_us=9.0), made("run", 300)])
