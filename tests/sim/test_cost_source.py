"""Which step times a simulation takes, and what it says about them."""

import json
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from analysis.run import load
from backends.simulated import load_gpu_sheet, load_model_sheet
from sim.cost_source import cost_source
from sim.replay_settings import ReplaySettings
from tests.sim.calibration_files import calibration_file
from tests.sim.command import command, replay, row, write_rows

MODEL = ("--model", "Qwen3-0.6B")


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return write_rows(tmp_path / "trace.jsonl", row(0.0, 100, 5), row(50.0, 200, 3))


def test_a_fitted_model_times_the_steps(tmp_path: Path, trace: Path) -> None:
    run = tmp_path / "run"
    summary = replay(trace, *MODEL, "--cost", calibration_file(tmp_path), "--output", run, "--json").summary
    assert summary["cost_model"] == {
        "kind": "fitted",
        "text": "made-up, calibrated on H200, held-out error 1.2 %",
        "outside_share": 0.0,
        "outside": [],
        "host_probe_us": None,
    }
    assert load(run).meta["cost_model"] == {"kind": "fitted", "text": summary["cost_model"]["text"]}
    steps = load(run).table("steps").to_pylist()
    # The first step computes a prompt of 100 tokens in the graph of 128.
    products_us = 1500 + (2600 - 1500) * (128 - 16) / (512 - 16)
    device_us = products_us + 0.4 + 12 + (100**2 - (100**2 - 100) / 2) * 450e-6
    device_us += (60 - 20 * (100 - 16) / (512 - 16)) * 0.1  # to read its context, 100 tokens
    assert steps[0]["device_s"] == pytest.approx(1e-6 * device_us)
    assert steps[0]["host_s"] == pytest.approx(1e-6 * (500 + 3 + 20 + 10 + 40 + 15), rel=1e-4)


def test_the_share_of_steps_outside_is_said(tmp_path: Path, trace: Path) -> None:
    """Measured were contexts of up to 104 tokens; the second request's steps are longer."""
    cost = calibration_file(tmp_path, most=10_500.0)
    done = replay(trace, *MODEL, "--cost", cost)
    words = " ".join(done.out.split())
    assert "fitted: made-up, calibrated on H200, held-out error 1.2 %" in words
    assert (
        "Warning: 12 % of the steps have shapes that the cost model was not calibrated for: prefill_qk up to 40,000, "
        "measured up to 10,500 (12 %)." in words
    )
    block = replay(trace, *MODEL, "--cost", cost, "--json").summary["cost_model"]
    assert block["outside_share"] == 0.125
    assert block["outside"] == [{"size": "prefill_qk", "share": 0.125, "furthest": 40_000.0, "measured": 10_500.0}]


def test_an_uncalibrated_replay_says_so(tmp_path: Path, trace: Path) -> None:
    done = replay(trace, *MODEL, "--cost", "roofline")
    assert "(roofline, uncalibrated)" in done.out
    assert "Warning" not in done.out


@pytest.mark.parametrize(
    ("settings", "flags", "said"),
    [
        ({}, (), "is calibrated with model Qwen3-0.6B, but the replay has Qwen3-8B; give --model Qwen3-0.6B"),
        ({"tp": 2}, MODEL, "is calibrated with tp 2, but the replay has 1; give --tp 2"),
        (
            {},
            (*MODEL, "--gpu", "h100"),
            "is fitted to step times of GPU H200, but the replay is on H100; give --gpu H200 or leave --gpu out",
        ),
        ({"gpu": "H100"}, (*MODEL, "--gpu", "H200"), "or for H200 take a calibration of its own or --cost roofline."),
    ],
)
def test_a_calibration_of_another_engine_is_refused(
    tmp_path: Path, trace: Path, settings: dict[str, int], flags: tuple[str, ...], said: str
) -> None:
    assert said in replay(trace, *flags, "--cost", calibration_file(tmp_path, **settings)).error


def test_smaller_differences_are_notices(tmp_path: Path, trace: Path) -> None:
    cost = calibration_file(tmp_path, block_size=256, gpu="Abacus 3", dtype="float32")
    notes = replay(trace, *MODEL, "--cost", cost).notes
    assert notes[-3:] == [
        "made-up.toml is calibrated with gpu Abacus 3, but the replay has H200: there is no sheet of the former, so "
        "memory and the least time of a step are of the H200.",
        "made-up.toml is calibrated with block size 256, but the replay has 16: attention and the host's work on "
        "blocks may take other times, and with --block-size 256 they are the measured ones.",
        "made-up.toml is calibrated with dtype float32, but the replay has 2 bytes a number: all step times may be far "
        "off.",
    ]


def test_the_gpu_of_a_calibration_is_simulated_where_none_is_named(tmp_path: Path, trace: Path) -> None:
    cost = calibration_file(tmp_path, gpu="H100")
    done = command("replay", trace, *MODEL, "--cost", cost, "--output", tmp_path / "run")
    meta = load(tmp_path / "run").meta
    h100 = command("replay", trace, *MODEL, "--gpu", "H100", "--cost", "roofline", "--output", tmp_path / "roofline")

    assert (done.code, h100.code) == (0, 0)
    assert "Qwen3-0.6B on 1 x H100 (fitted)" in done.out
    assert (meta["hardware"]["gpu"], meta["settings"]["gpu"]) == ("H100", "H100")
    assert meta["num_kv_blocks"] == load(tmp_path / "roofline").meta["num_kv_blocks"]
    explained = command("explain", *MODEL, "--cost", cost)
    assert explained.out.startswith("Qwen3-0.6B on 1 x H100, made-up, calibrated on H100")


def test_a_sheet_of_ones_own_goes_with_what_its_gpu_calls_itself(tmp_path: Path, trace: Path) -> None:
    sheet = tmp_path / "sheet.toml"
    known = resources.files("backends.simulated").joinpath("sheets", "gpus", "h100.toml").read_text()
    sheet.write_text(known.replace('name = "H100"', 'name = "Abacus 3"'))
    cost = calibration_file(tmp_path, gpu="NVIDIA Abacus 3 80GB")

    assert [note for note in replay(trace, *MODEL, "--gpu", sheet, "--cost", cost).notes if "made-up" in note] == []


def test_what_is_no_cost_model_is_refused(tmp_path: Path, trace: Path) -> None:
    assert "give roofline, a file of `sim calibrate`" in replay(trace, "--cost", "guess").error
    assert "Cannot read the calibration" in replay(trace, "--cost", tmp_path / "none.toml").error


def test_explain_shows_the_terms_of_a_calibration(tmp_path: Path) -> None:
    done = command("explain", *MODEL, "--cost", calibration_file(tmp_path), "--decode-seqs", 16)
    assert done.code == 0
    title = done.out.splitlines()[0]
    assert title == "Qwen3-0.6B on 1 x H200, made-up, calibrated on H200, held-out error 1.2 %: graph of 16 tokens"
    assert "decode attention" in done.out


def test_explain_has_no_terms_of_a_run(tmp_path: Path, trace: Path) -> None:
    assert replay(trace, "--output", tmp_path / "run").code == 0
    assert "give roofline or a calibration" in command("explain", "--cost", tmp_path / "run").error


def test_the_record_names_the_run_that_times_came_from(tmp_path: Path, trace: Path) -> None:
    assert replay(trace, "--output", tmp_path / "first").code == 0
    done = replay(trace, "--cost", tmp_path / "first", "--like", tmp_path / "first", "--output", tmp_path / "again")
    assert done.code == 0
    meta = json.loads((tmp_path / "again" / "meta.json").read_text())
    assert meta["cost_model"] == {"kind": "recorded", "text": "step times of the run first"}


def test_other_attention_than_the_calibrated_one_is_said_where_it_is_known(tmp_path: Path) -> None:
    cost = calibration_file(tmp_path)
    model, gpu = load_model_sheet("qwen3-0.6b"), load_gpu_sheet("h200")
    asked = ReplaySettings(model="Qwen3-0.6B", block_size=16, cost=str(cost))
    assert cost_source(asked, model, gpu).notices == ()
    (notice,) = cost_source(replace(asked, attention="torch"), model, gpu).notices
    assert notice == (
        "made-up.toml is calibrated with attention flash4, but the replay has torch: attention may take other times."
    )


@pytest.mark.parametrize("model", ["Qwen3-0.6B", "Qwen3-8B"])
@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"block_size": 32}, ["Step times are the roofline's; with --block-size 16 they would be calibrated."]),
        (
            {"block_size": 16, "attention": "torch"},
            ["Step times are the roofline's; with attention flash4 they would be calibrated."],
        ),
        (
            {"block_size": 256, "attention": "torch"},
            ["Step times are the roofline's; with attention flash2 they would be calibrated."],
        ),
        ({"block_size": 16, "tp": 2}, []),
        ({"block_size": 16, "cost": "roofline"}, []),
        ({"block_size": 16}, []),
        ({"block_size": 256}, []),
    ],
)
def test_what_would_give_calibrated_step_times_is_said(changed: dict[str, Any], said: list[str], model: str) -> None:
    asked = replace(ReplaySettings(model=model), **changed)
    source = cost_source(asked, load_model_sheet(model), load_gpu_sheet("h200"))
    assert list(source.notices) == said
    assert source.kind == ("fitted" if changed in ({"block_size": 16}, {"block_size": 256}) else "roofline")


def test_the_record_keeps_what_would_give_calibrated_step_times(tmp_path: Path, trace: Path) -> None:
    assert replay(trace, *MODEL, "--block-size", 32, "--output", tmp_path / "run").code == 0
    said = "Step times are the roofline's; with --block-size 16 they would be calibrated."
    assert said in json.loads((tmp_path / "run" / "meta.json").read_text())["notices"]


def _times(trace: Path, folder: Path, name: str, *flags: object) -> tuple[list[Any], list[Any]]:
    """Device and host times of the steps of a replay."""
    assert replay(trace, *MODEL, *flags, "--output", folder / name).code == 0
    table = load(folder / name).table("steps")
    return table.column("device_s").to_pylist(), table.column("host_s").to_pylist()


def test_a_slower_host_takes_longer_and_the_device_does_not(tmp_path: Path, trace: Path) -> None:
    """Host times of the file are those of a probe of 10 us, a fifth of them fixed; the hosts measured on took 12."""
    plain = _times(trace, tmp_path, "plain", "--cost", calibration_file(tmp_path))
    cost = calibration_file(tmp_path, host_probe_us=12.0)
    usual = _times(trace, tmp_path, "usual", "--cost", cost)
    told = _times(trace, tmp_path, "told", "--cost", cost, "--host-probe-us", 15)
    assert usual[0] == pytest.approx(plain[0], abs=2e-9)
    assert told[0] == pytest.approx(plain[0], abs=2e-9)
    assert usual[1] == pytest.approx([1.16 * each for each in plain[1]], abs=4e-9)
    assert told[1] == pytest.approx([1.4 * each for each in plain[1]], abs=4e-9)


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--cost", "roofline", "--host-probe-us", 9), "host_probe_us is 9.0, but roofline step times know no host"),
        (("--host-probe-us", 0), "host_probe_us is 0.0; it is a time in microseconds, above 0"),
        (
            ("--host-probe-us", 12_000),
            "12000.0; it is a time in microseconds, above 0 and at most 1,000.",
        ),
        (("--host-probe-us", "nan"), "host_probe_us is nan; it must be finite"),
        (("--backend", "gpu", "--host-probe-us", 9), "backend gpu has no such setting"),
    ],
)
def test_a_host_speed_that_means_nothing_is_refused(trace: Path, flags: tuple[object, ...], said: str) -> None:
    assert said in replay(trace, *MODEL, *flags).error


def test_a_calibration_that_does_not_know_its_host_cannot_be_told_another(tmp_path: Path, trace: Path) -> None:
    done = replay(trace, *MODEL, "--cost", calibration_file(tmp_path), "--host-probe-us", 9)
    assert "the calibration does not say what host its times are from" in done.error
