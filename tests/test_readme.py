"""The README's code runs as it stands: commands in order in one folder, on a part of the trace to be quick."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from backends.simulated.calibration_file import shipped_calibrations
from sim.replay_settings import ReplaySettings
from tests.analysis.vllm_files import write_result
from tests.doc_blocks import blocks_of, run_line, without_wall_clock
from tests.doc_links import broken_links
from tests.sim.command import ROOT, Done, command

README = (ROOT / "README.md").read_text("utf-8")
EXAMPLE = ROOT / "examples" / "shared_prefixes.jsonl"
BLOCKS = [(block.language, block.text) for block in blocks_of(README)]
SHELL_LINES = [line for language, text in BLOCKS if language == "sh" for line in text.splitlines()]
PYTHON = [text for language, text in BLOCKS if language == "python"]
NEEDS_GPU = ("--backend gpu", "runs/gpu", "profile.parquet", "model.toml")  # or a file made with one


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where a reader stands, with what the commands make."""
    folder = tmp_path_factory.mktemp("clone")
    (folder / "examples").symlink_to(ROOT / "examples")
    (folder / "log.csv").write_text("time_s,prompt_tokens,answer_tokens\n10.5,700,20\n11.25,80,300\n")
    write_result(folder / "result.json")
    here = Path.cwd()
    os.chdir(folder)
    try:
        for line in SHELL_LINES:
            if (words := runnable(line)) is not None:
                done = command(*words)
                assert done.code == 0, (line, done.err)
    finally:
        os.chdir(here)
    return folder


def runnable(line: str) -> list[str] | None:
    """Arguments of `twinserve` for a line of the README; None if it needs a GPU or sets something up."""
    found = re.fullmatch(r"python -m (?:sim|analysis) (.*?)( +#.*)?", line)
    if found is None or any(words in line for words in NEEDS_GPU):
        return None
    words = found[1].replace("$TRACE", "examples/shared_prefixes.jsonl").split()
    return [*words, "--limit", "20"] if words[0] in ("replay", "sweep") else words


def test_commands_run_one_after_the_other(folder: Path) -> None:
    assert {path.name for path in (folder / "runs").iterdir()} == {"vllm", "nano", "sweep", "server", "simulated"}
    assert sum(runnable(line) is not None for line in SHELL_LINES) >= 8


def test_every_other_line_sets_up_or_needs_a_gpu() -> None:
    others = [line for line in SHELL_LINES if runnable(line) is None]
    assert [line for line in others if not any(words in line for words in NEEDS_GPU)] == [
        "python3 -m venv .venv && . .venv/bin/activate && pip install -q . && "
        "python -m sim replay examples/shared_prefixes.jsonl",
        "scripts/test",
        "TRACE=examples/shared_prefixes.jsonl",
        "pip install -q '.[report]'                                                    # for pages with figures",
    ]


@pytest.mark.parametrize("text", [text for text in PYTHON if "qwen3" not in text])
def test_python_runs(folder: Path, text: str) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", text], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_converted_log_is_a_trace(folder: Path) -> None:
    for text in PYTHON:
        if "to_json" in text:
            subprocess.run([sys.executable, "-c", text], cwd=folder, check=True)
    done = command("replay", folder / "mine.jsonl", "--num-blocks", 400, "--json")
    assert (done.summary["completed"], done.summary["total_input_tokens"]) == (2, 780)


def test_python_for_a_gpu_names_what_there_is() -> None:
    pytest.importorskip("torch")
    from backends.qwen3.options import Options
    from backends.qwen3.qwen3_backend import Qwen3Backend

    (text,) = [text for text in PYTHON if "qwen3" in text]
    calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    (made,) = [call for call in calls if isinstance(call.func, ast.Attribute) and call.func.attr == "from_folder"]
    assert callable(Qwen3Backend.from_folder)
    assert {word.arg for word in made.keywords} <= set(Options.__annotations__)


def test_sample_output_is_what_the_first_command_prints() -> None:
    """Figures change with every better cost model; so the sample is to be printed anew with it."""
    (sample,) = [text for language, text in BLOCKS if language == "text"]
    first = SHELL_LINES[0].rpartition(" && ")[2]
    printed = run_line(first.replace("examples/", f"{ROOT}/examples/"))
    assert without_wall_clock(sample) == without_wall_clock(printed)


def test_links_lead_somewhere() -> None:
    assert broken_links(ROOT / "README.md") == []


def test_calibrations_are_those_that_are_named() -> None:
    """Of two models, blocks of 16 with flash-attn 4 and of 256 with flash-attn 2; none of more sequences."""
    shipped = [calibration for _, calibration in shipped_calibrations()]
    engines = {(each.settings.model, each.settings.block_size, each.settings.attention) for each in shipped}
    assert engines == {
        (model, *kernels) for model in ("Qwen3-0.6B", "Qwen3-8B") for kernels in ((16, "flash4"), (256, "flash2"))
    }
    assert {(each.settings.gpu, each.settings.tp) for each in shipped} == {("H200", 1)}
    assert [line for line in README.splitlines() if "| one H200 |" in line and "flash-attn" in line] == [
        "| Qwen3-0.6B, Qwen3-8B | one H200 | 16, the default | flash-attn 4 |",
        "| Qwen3-0.6B, Qwen3-8B | one H200 | 256 | flash-attn 2 |",
    ]
    assert len(shipped) == 4
    said = (
        "The package has some of one H200: of Qwen3-0.6B and Qwen3-8B, in blocks of 16 (flash-attn 4) and of 256 "
        "(flash-attn 2)."
    )
    assert said in " ".join((ROOT / "docs" / "calibrate.md").read_text("utf-8").split())
    for calibration in shipped:
        assert max(columns["num_decode_seqs"][1] for columns in calibration.envelope.ranges.values()) <= 256


def test_more_sequences_than_were_measured_are_warned_of() -> None:
    options = ("--rate-scale", 100, "--max-num-seqs")
    done = [" ".join(_example(*options, num).out.split()) for num in (256, 1024)]
    assert ["num_decode_seqs up to" in words for words in done] == [False, True]


@pytest.mark.parametrize("block_size", [16, 256])
@pytest.mark.parametrize("model", ["Qwen3-0.6B", "Qwen3-8B"])
def test_the_roofline_is_optimistic_beside_a_calibration(model: str, block_size: int) -> None:
    for scale, keys in ((1, ["mean_ttft_ms"]), (20, ["mean_ttft_ms", "mean_tpot_ms"])):
        options = ("--model", model, "--block-size", block_size, "--rate-scale", scale, "--json")
        fitted, roofline = _example(*options).summary, _example(*options, "--cost", "roofline").summary
        assert (fitted["cost_model"]["kind"], roofline["cost_model"]["kind"]) == ("fitted", "roofline")
        assert all(roofline[key] < fitted[key] for key in keys)


def test_what_the_roofline_makes_of_the_example_under_load_is_true() -> None:
    summaries = [
        command("replay", EXAMPLE, "--rate-scale", 8, "--json", *more).summary for more in (("--cost", "roofline"), ())
    ]
    assert [summary["cost_model"]["kind"] for summary in summaries] == ["roofline", "fitted"]
    said = "the first command with `--rate-scale 8`: {:.1f} ms, calibrated {:.1f} ms"
    assert said.format(*[summary["mean_tpot_ms"] for summary in summaries]) in " ".join(README.split())


def test_what_a_policy_of_ones_own_does_to_ttft_is_true() -> None:
    (line,) = [line for line in SHELL_LINES if "--policy examples/" in line]
    words = line.replace("$TRACE", str(EXAMPLE)).replace("examples/policies", f"{ROOT}/examples/policies").split()[3:]
    at = words.index("--policy")
    usual, own = (command(*words[:at], *more, "--json").summary for more in ((), words[at:]))
    means, tails = ([1e-3 * each[key] for each in (usual, own)] for key in ("mean_ttft_ms", "p99_ttft_ms"))
    said = (
        "the mean TTFT falls from {:.1f} s to {:.1f} s, and the 99th percentile rises from {:.1f} s to {:.1f} s.".format
    )
    assert said(*means, *tails) in " ".join(README.split())
    assert means[0] > means[1]
    assert tails[0] < tails[1]


@pytest.mark.parametrize(
    ("flags", "kind"),
    [
        ((), "fitted"),
        (("--model", "Qwen3-0.6B"), "fitted"),
        (("--block-size", 256), "fitted"),
        (("--policy", "nano-vllm"), "fitted"),
        (("--cost", "roofline"), "roofline"),
        (("--block-size", 32), "roofline"),
        (("--tp", 2), "roofline"),
        (("--gpu", "H100"), "roofline"),
        (("--gpu", "L40S"), "roofline"),
        (("--model", "Qwen3-4B"), "roofline"),
        (("--model", "Llama-3.1-8B"), "roofline"),
    ],
)
def test_calibrated_are_those_replays_of_which_it_is_said(flags: tuple[object, ...], kind: str) -> None:
    assert command("replay", EXAMPLE, "--limit", 2, "--json", *flags).summary["cost_model"]["kind"] == kind


def test_what_is_not_modelled_has_no_setting() -> None:
    names = " ".join(ReplaySettings.__dataclass_fields__)
    for word in (
        "async",
        "specul",
        "disagg",
        "quant",
        "fp8",
        "lora",
        "expert",
        "pipeline",
        "offload",
        "swap",
        "replica",
    ):
        assert word not in names


def _example(*options: object) -> Done:
    """A replay of all of the example, by default with calibrated step times."""
    return command("replay", EXAMPLE, "--model", "Qwen3-0.6B", "--block-size", 256, *options)
