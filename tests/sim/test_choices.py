from pathlib import Path

import pytest

from tests.sim.command import command, row, write_rows

ENGINE = ("--max-num-seqs", 4, "--max-num-batched-tokens", 512)


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return write_rows(tmp_path / "trace.jsonl", row(), row(10, session_id="a"))


def details(trace: Path, *args: object) -> list[str]:
    done = command("replay", trace, *ENGINE, "-v", *args)
    assert done.code == 0
    return [line.removeprefix("detail: ") for line in done.err.splitlines() if line.startswith("detail: ")]


def test_defaults_say_why(trace: Path) -> None:
    first, engine, blocks, times, graphs, policy, pace = details(trace)
    assert first.startswith("Trace trace.jsonl: 2 requests, 1 sessions, digest ")
    assert engine == (
        "Engine: kind simulated, model Qwen3-8B, gpu H200, num_gpus 1; at most 4 sequences and 512 tokens a step, "
        "sequences up to 40960 tokens."
    )
    assert "blocks, what 0.9 of the GPU's memory holds" in blocks
    assert blocks.endswith("; 16 tokens in each, by default.")
    assert times.startswith("Step times: fitted, qwen3-8b-h200-block16-flash4, calibrated on H200, ")
    assert times.endswith(", as this package has a calibration of this model, GPU, degree and block size.")
    assert graphs.startswith("CUDA graphs: 1, 2, 4 decodes")
    assert policy.startswith("Policy vllm: scheduling_policy fcfs, chunked_prefill True, ")
    assert pace == "Pace virtual, by default; seed 0."


def test_what_was_asked_for_is_said_to_be(trace: Path) -> None:
    lines = details(
        trace, "--num-blocks", 70, "--block-size", 32, "--cost", "roofline", "--pace", "virtual", "--seed", 3
    )
    assert "KV cache: 70 blocks, as asked; 32 tokens in each, as asked." in lines
    assert "Step times: roofline, uncalibrated, as asked." in lines
    assert "Pace virtual, as asked; seed 3." in lines


@pytest.mark.parametrize("flags", [("--gpu", "L40S"), ("--tp", 2), ("--block-size", 32), ("--model", "Qwen3-4B")])
def test_a_roofline_says_that_there_is_no_calibration(trace: Path, flags: tuple[object, ...]) -> None:
    assert (
        "Step times: roofline, uncalibrated, as no calibration of this package is of this model, GPU, degree and block "
        "size." in details(trace, *flags)
    )


def test_a_calibration_of_the_package_is_named(trace: Path) -> None:
    lines = details(trace, "--model", "Qwen3-0.6B", "--block-size", 256)
    (times,) = [line for line in lines if line.startswith("Step times: fitted, ")]
    assert times.endswith(", as this package has a calibration of this model, GPU, degree and block size.")


def test_a_policy_of_ones_own_has_no_settings(trace: Path) -> None:
    lines = details(trace, "--policy", "examples/policies/shortest_prompt_first.py:ShortestPromptFirst")
    assert "Policy examples/policies/shortest_prompt_first.py:ShortestPromptFirst." in lines
