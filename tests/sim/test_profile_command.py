"""`python -m sim profile` as a user runs it."""

from pathlib import Path

import numpy as np
import pytest

from sim.errors import SimError
from sim.parts import make_parts
from sim.profile_command import take_profile
from sim.profiling.profile_file import STEP_FIELDS, read_profile
from sim.replay_settings import ReplaySettings
from tests.sim.command import command

SMALL = ("--max-num-seqs", 8, "--max-num-batched-tokens", 128, "--max-model-len", 512, "--num-blocks", 200)
TINY = "benchmarks/tiny-qwen3.toml"


def test_a_profile_of_a_cost_model_holds_steps_and_what_they_were_taken_with(tmp_path: Path) -> None:
    path = tmp_path / "new" / "profile.parquet"
    done = command("profile", "--backend", "sim", "--model", TINY, "--output", path, "--max-seconds", 2, *SMALL)
    assert done.code == 0
    assert "traffic" in done.out
    profile = read_profile(path)
    assert set(profile.columns) == {*[field.name for field in STEP_FIELDS], "load", "is_warm_up"}
    graph_size, has_prompt = profile.columns["graph_size"], profile.columns["num_prefill_seqs"] > 0
    num_tokens = profile.columns["num_prefill_tokens"] + profile.columns["num_decode_seqs"]
    assert set(graph_size[~has_prompt]) <= {1, 2, 4, 8}
    assert has_prompt.any()
    assert (graph_size[has_prompt & ~np.isnan(graph_size)] >= num_tokens[has_prompt & ~np.isnan(graph_size)]).all()
    assert (profile.columns["duration_s"] > 0).all()
    assert profile.meta["settings"]["max_num_seqs"] == 8
    assert profile.meta["num_kv_blocks"] == 200
    assert profile.meta["graph_sizes"] == [1, 2, 4, 8]
    assert {"cpu", "num_cpus", "gpu"} <= set(profile.meta["hardware"])
    assert "python" in profile.meta["versions"]
    assert profile.meta["spreads"]
    assert len(profile.meta["spreads"][0]) == len(profile.meta["spread_fields"])
    assert profile.columns["load"].max() < len(profile.meta["loads"])


def test_a_real_engine_is_profiled_on_the_cpu(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    path = tmp_path / "profile.parquet"
    real = ("--device", "cpu", "--load-format", "dummy", "--dtype", "float32", "--model", TINY, "--block-size", 16)
    done = command("profile", *real, "--output", path, "--max-seconds", 3, *SMALL)
    assert done.code == 0, done.err
    columns = read_profile(path).columns
    assert (columns["device_s"] <= columns["duration_s"]).all()
    assert np.isnan(columns["graph_size"]).all()


def test_time_that_does_not_suffice_for_one_step_is_an_error() -> None:
    parts = make_parts(ReplaySettings(model=TINY, num_blocks=200, max_num_seqs=8, max_model_len=512))
    with pytest.raises(SimError, match=r"^No step was measured in 1e-06 s, only steps to warm up; give more"):
        take_profile(parts, 1e-6, counts=False)


def test_a_file_that_is_there_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "profile.parquet"
    path.write_text("mine")
    done = command("profile", "--backend", "sim", "--output", path)
    assert done.error == f"{path} exists; name a new file for the profile, or remove it."
    assert path.read_text() == "mine"
