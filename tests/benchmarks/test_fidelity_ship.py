from pathlib import Path

import pytest

from backends.simulated.calibration import CalibratedSettings
from backends.simulated.calibration_file import shipped_calibrations
from benchmarks.fidelity.ship import file_stem, sources
from sim.errors import SimError


def test_a_file_is_named_by_what_it_is_told_apart_by() -> None:
    settings = CalibratedSettings(
        model="Qwen3-8B", gpu="H200", tp=2, block_size=16, dtype="bfloat16", attention="flash4", max_model_len=40_960
    )
    assert file_stem(settings) == "qwen3-8b-h200-tp2-block16-flash4"


def test_files_of_the_package_have_their_names() -> None:
    for name, calibration in shipped_calibrations():
        assert name == file_stem(calibration.settings)


def test_finished_runs_count_beside_the_profile(tmp_path: Path) -> None:
    with pytest.raises(SimError, match=r"has no profile\.parquet"):
        sources(tmp_path)
    (tmp_path / "profile.parquet").touch()
    for name in ("b", "a", "unfinished"):
        (tmp_path / "runs" / name).mkdir(parents=True)
    for name in ("b", "a"):
        (tmp_path / "runs" / name / "summary.json").touch()
    assert sources(tmp_path) == [tmp_path / "profile.parquet", tmp_path / "runs" / "a", tmp_path / "runs" / "b"]
