"""`python -m sim calibrate`: from a profile to a replay."""

from pathlib import Path

import numpy as np
import pytest

from backends.cost_model import StepColumns
from backends.simulated.calibration_file import load_calibration
from backends.simulated.fitted_model import FittedModel
from sim.profiling.profile_file import Profile, read_profile, write_profile
from tests.backends.fitted_numbers import fitted_times
from tests.sim.command import command, replay, row, write_rows

FLAGS = (
    "--model", "Qwen3-0.6B", "--block-size", "16", "--num-blocks", "4000", "--max-num-seqs", "16",
    "--max-model-len", "2048", "--max-num-batched-tokens", "1024",
)  # fmt: skip


@pytest.fixture(scope="module")
def profile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sweep through a small engine, with times of a made-up GPU in place of the roofline's."""
    folder = tmp_path_factory.mktemp("profile")
    assert command("profile", "--backend", "sim", *FLAGS, "--output", folder / "sim.parquet").code == 0
    taken = read_profile(folder / "sim.parquet")
    times = FittedModel(fitted_times(), None).step_times(StepColumns.from_table(taken.columns))
    random = np.random.default_rng(1)
    noise = 1 + 0.03 * (random.exponential(1, len(times.duration_s)) - 1)
    columns = taken.columns | {name: column * noise for name, column in times._asdict().items()}
    meta = taken.meta | {
        "settings": taken.meta["settings"] | {"backend": "gpu"},
        "hardware": {"kind": "cuda", "gpu": "NVIDIA H200", "num_gpus": 1},
        "notices": ["Attention flash4 on cuda."],
    }
    write_profile(Profile(columns, meta), folder / "profile.parquet")
    return folder / "profile.parquet"


@pytest.fixture(scope="module")
def calibrated(profile: Path) -> Path:
    path = profile.with_name("model.toml")
    done = command("calibrate", profile, "--output", path)
    assert done.code == 0
    assert "calibrated on H200, held-out error" in " ".join(done.out.split())
    return path


def test_a_calibration_says_what_it_was_fitted_to(profile: Path, calibrated: Path) -> None:
    calibration = load_calibration(calibrated)
    settings = calibration.settings
    assert (settings.model, settings.gpu, settings.tp, settings.block_size) == ("Qwen3-0.6B", "H200", 1, 16)
    assert (settings.dtype, settings.attention, settings.max_model_len) == ("bfloat16", "flash4", 2048)
    (source,) = calibration.sources
    measured = read_profile(profile).columns["is_warm_up"] == 0
    assert (source.name, source.num_steps) == ("profile.parquet", int(measured.sum()))
    assert calibration.envelope.ranges["decode graph"]["num_decode_seqs"] == (1.0, 16.0)


def test_held_out_errors_are_small(calibrated: Path) -> None:
    errors = load_calibration(calibrated).errors
    assert {"decode graph", "mixed graph", "all"} <= set(errors)
    assert abs(errors["all"].bias_percent) < 0.5
    assert errors["all"].mean_error_percent < 4  # the noise alone is 2 %


def test_a_replay_runs_on_it(calibrated: Path, tmp_path: Path) -> None:
    trace = write_rows(tmp_path / "trace.jsonl", *[row(20.0 * i, 50 + 10 * i, 20) for i in range(30)])
    summary = replay(trace, *FLAGS, "--cost", calibrated, "--json").summary
    assert summary["cost_model"]["kind"] == "fitted"
    assert summary["cost_model"]["outside_share"] < 0.1
    assert summary["completed"] == 30


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("model", 5, "has 5 as model in its settings; it must be text"),
        ("tp", None, "has None as tp in its settings; it must be a whole number from 1"),
        ("block_size", "16", "has '16' as block_size in its settings"),
        ("max_model_len", -1, "has -1 as max_model_len in its settings"),
    ],
)
def test_profiles_of_an_engine_that_they_do_not_name_are_refused(
    name: str, value: object, said: str, profile: Path, tmp_path: Path
) -> None:
    taken = read_profile(profile)
    settings = taken.meta["settings"] | {name: value}
    write_profile(Profile(taken.columns, taken.meta | {"settings": settings}), tmp_path / "other.parquet")
    done = command("calibrate", tmp_path / "other.parquet", "--output", tmp_path / "model.toml")
    assert done.code == 2
    assert said in done.err


def test_profiles_of_unlike_engines_are_refused(profile: Path, tmp_path: Path) -> None:
    taken = read_profile(profile)
    other = tmp_path / "other.parquet"
    write_profile(
        Profile(taken.columns, taken.meta | {"settings": taken.meta["settings"] | {"block_size": 256}}), other
    )
    error = command("calibrate", profile, other, "--output", tmp_path / "model.toml").error
    assert "profile.parquet was measured with block_size 16, but other.parquet with 256" in error


def test_what_cannot_be_is_refused_with_a_sentence(profile: Path, tmp_path: Path) -> None:
    assert "its name must end in .toml" in command("calibrate", profile, "--output", tmp_path / "model").error
    assert "does not exist" in command("calibrate", tmp_path / "none", "--output", tmp_path / "m.toml").error
    away = tmp_path / "no" / "m.toml"
    assert "cannot be written" in command("calibrate", profile, "--output", away).error


def test_what_is_not_there_may_be_a_profile_or_a_run(tmp_path: Path) -> None:
    error = command("calibrate", tmp_path / "profile.parquet", "--output", tmp_path / "model.toml").error

    assert error.endswith("profile.parquet does not exist; name a file of `sim profile` or the directory of a run.")
