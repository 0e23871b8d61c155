import re
from dataclasses import replace
from pathlib import Path

import pytest

from backends.errors import SheetError
from backends.simulated.calibration import CalibratedSettings, Calibration, ClassError, Source
from backends.simulated.calibration_file import dump_calibration, load_calibration, shipped_calibrations
from backends.simulated.envelope import Envelope, columns_of
from tests.backends.fitted_numbers import fitted_times

CALIBRATION = Calibration(
    settings=CalibratedSettings(
        model="Qwen3-0.6B",
        gpu="H200",
        tp=1,
        block_size=256,
        dtype="bfloat16",
        attention="flash2",
        max_model_len=40_960,
    ),
    hardware={"gpu": 'NVIDIA "H200"\n', "num_cpus": 16},
    versions={"flash-attn": "2.8.3"},
    sources=(Source(name="profile.parquet", kind="profile", num_steps=1000, seconds=12.5),),
    errors={"all": ClassError(num_steps=10, bias_percent=-0.25, mean_error_percent=1.5)},
    envelope=Envelope({"decode graph": dict.fromkeys(columns_of("decode graph"), (0.0, 8.0))}),
    times=fitted_times(),
)
TEXT = dump_calibration(CALIBRATION)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "model.toml"
    path.write_text(TEXT)
    assert load_calibration(path) == CALIBRATION


def test_numbers_are_short() -> None:
    times = replace(CALIBRATION.times, launches=replace(CALIBRATION.times.launches, mixed_us=1 / 3 * 1e4))
    assert "mixed_us = 3333.33\n" in dump_calibration(replace(CALIBRATION, times=times))


def test_reports_say_where_and_how_well() -> None:
    assert CALIBRATION.summary == "calibrated on H200, held-out error 1.5 %"
    assert replace(CALIBRATION, errors={}).summary == "calibrated on H200, no steps held out"
    two = replace(CALIBRATION, settings=replace(CALIBRATION.settings, tp=2))
    assert two.summary == "calibrated on 2 x H200, held-out error 1.5 %"


@pytest.mark.parametrize(
    ("pattern", "replacement", "said"),
    [
        (r'^format = ".*"', 'format = "other"', "is no calibration of this release"),
        (r"^format_version = 4", "format_version = 3", "format_version 4"),
        (r"^block_size = 256", 'block_size = "256"', "block_size is '256'; it must be a whole number"),
        (r"^tp = 1\n", "", r"\[settings\]: the key 'tp' is missing"),
        (r"^tp = 1\n", "tp = 1\nrate = 2\n", "unknown key 'rate'"),
        (r"^chunk_us = 12", "chunk_us = -12", "chunk_us has -12.0; no such number is negative"),
        (r"^chunk_us = 12", "chunk_us = inf", "chunk_us is inf; it must be a number"),
        (r"^chunk_us = 12", f"chunk_us = {10**400}", "chunk_us is 10+; it must be a number"),
        (r"^chunk_us = 12", "chunk_us = [12]", r"chunk_us is \[12\]; it must be a number"),
        (r"^tokens = \[1, 8, 64, 256\]", "tokens = [1, 64, 8, 256]", "its numbers must rise"),
        (r"^tokens = \[1, 8, 64, 256\]", "tokens = [1, 8, 64]", "time_us must have 1 x 3 numbers"),
        (r"^context_limits = \[1024, 4096\]", "context_limits = [1024]", "call_us must have 2 x 3 numbers"),
        (r"^top_spreads = \[0, 0, 1.5\]", "top_spreads = [0, 1.5]", "top_spreads must have 1 x 3 numbers"),
        (r"^top_spreads = \[0, 0, 1.5\]", "top_spreads = [0, -1, 1.5]", "top_spreads has -1.0"),
        (r"^full_rows = 32", "full_rows = 0", "full_rows is 0; some rows must fill the device"),
        (r"^shared_saving = 0.5", "shared_saving = 1.5", "shared_saving is 1.5; nobody saves more than all, 1"),
        (r"^shared_saving = 0.5", "shared_saving = -1", "shared_saving has -1"),
        (
            r"^context_per_1k_us = \[60, 40, 4\]",
            "context_per_1k_us = [60]",
            "context_per_1k_us must have 1 x 3 numbers",
        ),
        (r"^tokens = \[1, 8, 64, 256\]", "tokens = 8", "tokens is 8; it must be a list"),
        (r'^\[envelope."decode graph"\]', '[envelope."decode"]', "'decode' is no class of steps"),
        (r"^num_decode_seqs = \[0, 8\]", "num_decode_seqs = [8, 0]", "the smallest and the largest value"),
        (r"^num_decode_seqs = \[0, 8\]\n", "", "must have a range for each of"),
        (r"^\[versions\]", "[others]", "unknown key 'others'"),
        (r"^format = ", "format : ", "is not valid TOML"),
        (r"^\[hardware\]", "[hardware]\ncpu = [1]", r"cpu is \[1\]; it must be text or a number"),
        *[
            (
                r"^\[hardware\]",
                f"[hardware]\nhost_probe_us = {value}",
                r"\[hardware\] host_probe_us is .*; it must be a time in microseconds, above 0",
            )
            for value in ("0", "-5.0", "nan", "inf", "true", '"10"', f"{10**400}")
        ],
    ],
)
def test_a_damaged_file_is_refused_with_a_sentence(tmp_path: Path, pattern: str, replacement: str, said: str) -> None:
    text, count = re.subn(pattern, replacement, TEXT, count=1, flags=re.MULTILINE)
    assert count
    path = tmp_path / "model.toml"
    path.write_text(text)
    with pytest.raises(SheetError, match=said) as caught:
        load_calibration(path)
    assert str(path) in str(caught.value)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(SheetError, match=r"Cannot read the calibration .*: No such file"):
        load_calibration(tmp_path / "none.toml")
    (tmp_path / "binary.toml").write_bytes(b"\xff")
    with pytest.raises(SheetError, match="not UTF-8"):
        load_calibration(tmp_path / "binary.toml")


def test_shipped_ones_can_be_read() -> None:
    for name, calibration in shipped_calibrations():
        assert calibration.settings.model.lower() in name
