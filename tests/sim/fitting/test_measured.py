import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sim.errors import SimError
from sim.fitting.measured import read_measured
from sim.profiling.profile_file import Profile, write_profile
from tests.sim.command import command, row, write_rows

COLUMNS = (
    "duration_s", "host_s", "device_s", "graph_size", "num_prefill_tokens", "num_prefill_seqs", "prefill_qk",
    "prefill_qq", "prefill_context", "max_query", "max_context", "num_decode_seqs", "decode_context",
    "decode_context_sq", "max_decode_context", "shared_context", "num_sampled", "num_new_blocks", "num_admitted",
    "num_released", "start_s",
)  # fmt: skip


def profile_file(folder: Path, changed: Mapping[str, Any] | None = None, **meta: Any) -> Path:  # metadata is JSON
    """Six steps: two of a decode load after a warm-up step, one step of another load, two of traffic."""
    columns = {name: np.ones(6) for name in COLUMNS}
    columns |= {
        "num_decode_seqs": np.arange(1.0, 7.0),
        "num_prefill_seqs": np.zeros(6),
        "load": np.array([0.0, 0, 0, 1, 2, 2]),
        "is_warm_up": np.array([1.0, 0, 0, 0, 0, 0]),
        "graph_size": np.array([8.0, 8, 8, np.nan, 8, 8]),
    }
    columns |= {name: np.full(6, value) for name, value in (changed or {}).items()}
    families = ("decode", "mixed", "traffic")
    described = {
        "settings": {"backend": "gpu", "attention": None},
        "hardware": {"kind": "cuda"},
        "loads": [{"name": family, "family": family, "num_warm_up": 1} for family in families],
        "notices": ["Attention flash2 on cuda, block size 256."],
    }
    path = folder / "profile.parquet"
    write_profile(Profile(columns, described | meta), path)
    return path


def test_a_profile_without_its_warm_up(tmp_path: Path) -> None:
    measured = read_measured(profile_file(tmp_path))
    samples = measured.samples
    assert (measured.kind, measured.name, measured.attention) == ("profile", "profile.parquet", "flash2")
    assert samples.steps.num_decode_seqs.tolist() == [2, 3, 4, 5, 6]
    assert samples.steps.graph_size.tolist() == [8, 8, 0, 8, 8]
    # The step before is one of the same load; warm-up steps count as such.
    assert samples.has_before.tolist() == [True, True, False, False, True]
    assert samples.before.num_decode_seqs.tolist() == [1, 2, 0, 0, 5]
    assert samples.is_held_out.tolist() == [False, False, False, True, True]


@pytest.mark.parametrize("name", ["flash4", "flash4+flash2", "torch"])
@pytest.mark.parametrize("rest", [", as asked for.", " on NVIDIA H200, block size 16."])
def test_attention_is_the_name_alone(tmp_path: Path, name: str, rest: str) -> None:
    assert read_measured(profile_file(tmp_path, notices=[f"Attention {name}{rest}"])).attention == name


def test_attention_from_settings_or_unknown(tmp_path: Path) -> None:
    path = profile_file(tmp_path, notices=[], settings={"backend": "gpu", "attention": "flash4"})
    assert read_measured(path).attention == "flash4"
    path.unlink()
    assert read_measured(profile_file(tmp_path, notices=[])).attention == "unknown"


def run_on_a_gpu(folder: Path) -> Path:
    """A run of the simulator that says that it was none; its steps are far apart in the middle."""
    trace, run = folder / "trace.jsonl", folder / "run"
    write_rows(trace, row(0.0, 100, 150), row(60_000.0, 100, 150))
    assert command("replay", str(trace), "--cost", "roofline", "--output", str(run)).code == 0
    meta = json.loads((run / "meta.json").read_text())
    meta["settings"]["backend"] = "gpu"
    meta["hardware"]["kind"] = "cuda"
    (run / "meta.json").write_text(json.dumps(meta))
    return run


def test_a_run(tmp_path: Path) -> None:
    measured = read_measured(run_on_a_gpu(tmp_path))
    samples = measured.samples
    assert (measured.kind, len(samples)) == ("run", 300)
    # The first step and the one after the idle wait have none right before them.
    assert np.flatnonzero(~samples.has_before).tolist() == [0, 150]
    assert samples.before.num_prefill_tokens[[1, 151]].tolist() == [100, 100]
    assert np.flatnonzero(samples.is_held_out).tolist() == list(range(200, 250))


def test_simulated_times_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SimError, match="comes from a simulation"):
        read_measured(profile_file(tmp_path, hardware={"kind": "simulated"}))
    trace, run = tmp_path / "trace.jsonl", tmp_path / "run"
    write_rows(trace, row(0.0, 10, 3))
    assert command("replay", str(trace), "--output", str(run)).code == 0
    with pytest.raises(SimError, match="comes from a simulation"):
        read_measured(run)


def test_times_at_the_reference_speed_differ_in_the_host_s_part_alone(tmp_path: Path) -> None:
    measured = read_measured(profile_file(tmp_path, host_probe_us=20.0))
    as_measured, at_reference = measured.samples.times, measured.at_reference.times
    assert measured.host_probe_us == 20.0
    assert at_reference.device_s.tolist() == as_measured.device_s.tolist()
    host_s = as_measured.duration_s - as_measured.device_s
    assert (at_reference.duration_s - at_reference.device_s).tolist() == pytest.approx((host_s / 1.8).tolist())
    assert set(measured.samples.slowness) == {1.0}
    assert set(measured.at_reference.slowness) == {2.0}
    silent = read_measured(profile_file(tmp_path))
    assert silent.at_reference is silent.samples


@pytest.mark.parametrize("probe_us", [0, -3.0, True, "10", [10.0], float("nan"), float("inf"), 10**400])
def test_a_host_whose_speed_cannot_be_is_refused(probe_us: object, tmp_path: Path) -> None:
    with pytest.raises(SimError, match=r"host_probe_us is .*; it must be a time in microseconds, above 0"):
        read_measured(profile_file(tmp_path, host_probe_us=probe_us))
    run = run_on_a_gpu(tmp_path)
    (run / "summary.json").write_text(json.dumps({"host_probe_us": probe_us}))
    with pytest.raises(SimError, match=r"summary\.json: host_probe_us is "):
        read_measured(run)


@pytest.mark.parametrize(
    ("meta", "said"),
    [
        ({"settings": None}, "settings is None; it must be a JSON object"),
        ({"settings": {"dtype": 5}}, "dtype in settings is 5; it must be text"),
        ({"hardware": "H200"}, "hardware is 'H200'; it must be a JSON object"),
        ({"versions": None}, "versions is None; it must be a JSON object"),
        ({"notices": -1}, "notices is -1; it must be a list of sentences"),
        ({"loads": None}, "does not say of what family its loads are"),
        ({"loads": ["decode"] * 3}, "does not say of what family its loads are"),
        ({"loads": [{"family": "decode"}]}, "has a step of load 1, but 1 loads"),
    ],
)
def test_metadata_of_another_kind_are_refused(meta: dict[str, Any], said: str, tmp_path: Path) -> None:
    with pytest.raises(SimError, match=re.escape(said)):
        read_measured(profile_file(tmp_path, **meta))


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"duration_s": -1.0}, "a step has a duration of -1 s"),
        ({"duration_s": 0.0, "device_s": 0.0}, "a step has a duration of 0 s"),
        ({"device_s": 1.5}, "a device time of 1.5 s"),
        ({"device_s": -0.5}, "a device time of -0.5 s"),
        ({"decode_context": -2.0}, "decode_context of a step is -2; it must not be negative"),
    ],
)
def test_steps_that_cannot_be_are_refused(changed: dict[str, float], said: str, tmp_path: Path) -> None:
    with pytest.raises(SimError, match=re.escape(said)):
        read_measured(profile_file(tmp_path, changed))
