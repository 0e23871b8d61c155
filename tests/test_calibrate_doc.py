"""docs/calibrate.md runs as it stands, but for the GPU: a tiny model on the CPU takes its place."""

import json
import re
import shlex
from contextlib import chdir
from dataclasses import fields
from importlib.util import find_spec
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from backends.simulated import load_gpu_sheet
from backends.simulated.calibration_file import FORMAT_VERSION, load_calibration
from backends.simulated.envelope import columns_of
from backends.simulated.fitted_times import FittedTimes, host_factor
from sim.host_speed import REFERENCE_PROBE_US
from sim.profiling.profile_file import META_KEY
from tests.doc_blocks import Block, blocks_of, lines_of, link_examples
from tests.doc_links import broken_links
from tests.sim.command import ROOT, Done, command, row, write_rows

PATH = ROOT / "docs" / "calibrate.md"
TEXT = PATH.read_text("utf-8")
TINY = (
    "benchmarks/tiny-qwen3.toml --device cpu --num-blocks 60 --max-num-seqs 8 --max-num-batched-tokens 128 "
    "--max-model-len 512"
)
MADE_ON_A_GPU = ("profile.parquet", "runs/gpu", "model.toml")


class Ran:
    """What the page's commands made and printed.

    Attributes:
        folder: where they ran.
        done: by command.
    """

    def __init__(self, folder: Path) -> None:
        """Run them, one after the other; without torch not those that need what only torch makes."""
        self.folder, self.done = folder, dict[str, Done]()
        link_examples(folder)
        write_rows(folder / "mine.jsonl", *[row(200.0 * number, 90, 12) for number in range(12)])
        with chdir(folder):
            for block in blocks_of(TEXT):
                self._run(block)

    def _run(self, block: Block) -> None:
        if block.file is not None:
            Path(block.file).write_text(block.text, "utf-8")
        for line in lines_of(block.text) if block.language == "sh" else ():
            if line.startswith("pip ") or (not find_spec("torch") and any(name in line for name in MADE_ON_A_GPU)):
                continue
            words = shlex.split(_on_a_cpu(line))
            assert words[:2] == ["python", "-m"]
            self.done[line] = done = command(*words[3:])
            assert done.code == 0, (line, done.err)


def _on_a_cpu(line: str) -> str:
    """The same with a tiny model if it needs a GPU, and a short sweep."""
    if " profile " in line:
        line += " --max-seconds 3"
    elif "--backend gpu" not in line:
        return line
    return line.replace("Qwen3-0.6B", TINY)


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    return Ran(tmp_path_factory.mktemp("clone"))


def test_every_command_runs(ran: Ran) -> None:
    assert len(ran.done) == (10 if find_spec("torch") else 5), list(ran.done)


def test_a_fit_prints_what_is_shown_but_for_figures(ran: Ran) -> None:
    (shown,) = [block for block in blocks_of(TEXT) if block.is_output]
    (line,) = [line for line in ran.done if "benchmarks/results" in line]
    assert _without_figures(shown.text) == _without_figures(ran.done[line].out)


def _without_figures(text: str) -> list[str]:
    """Words and marks; figures change with every better fit, and widths with them."""
    return re.sub(r"[+-]?\d[\d.,]*", "0", re.sub("[━─]+", "-", text)).split()


def test_tables_of_a_file_are_those_that_are_named(ran: Ran) -> None:
    text = (ran.folder / "h200.toml").read_text("utf-8")
    tables = re.sub(r"(errors|envelope)\..*?\]", r"\1.CLASS]", text)
    written = {".".join(name.split(".")[:2]) for name in re.findall(r"^\[+([\w.]+)", tables, re.MULTILINE)}
    named = set(re.findall(r"`\[+([\w.]+?)\]+`", TEXT[TEXT.index("## What the file holds") :]))
    assert named == written
    assert {f"times.{field.name}" for field in fields(FittedTimes)} <= named
    assert len(columns_of("mixed graph")) == 7


def test_host_times_are_as_told(ran: Ran) -> None:
    assert f"the reference speed, {REFERENCE_PROBE_US:g} us a probe" in " ".join(TEXT.split())
    assert f"The format is version {FORMAT_VERSION}." in TEXT
    assert host_factor(1.5) == pytest.approx(0.2 + 0.8 * 1.5)
    means = [
        done.out.split("Mean TPOT (ms):")[1].split()[0]
        for line, done in ran.done.items()
        if "h200.toml" in line and "replay" in line
    ]
    usual_us = load_calibration(ran.folder / "h200.toml").hardware["host_probe_us"]
    assert isinstance(usual_us, float)
    assert usual_us < 15
    assert float(means[0]) < float(means[1])


def test_profiles_left_out_as_many_loads_as_is_said() -> None:
    said = " ".join(TEXT.split())
    for size, words in (
        ("0.6b", "Qwen3-0.6B {} of {} loads were left out in {:.0f} s"),
        ("8b", "Qwen3-8B {} of {} in {:.0f} s"),
    ):
        schema = pq.read_schema(ROOT / "benchmarks" / "results" / f"h200_profile_qwen3_{size}_256.parquet")
        assert schema.metadata is not None
        meta = json.loads(schema.metadata[META_KEY])
        assert words.format(len(meta["skipped"]), len(meta["loads"]), meta["seconds"]) in said


def test_without_a_sheet_the_h200s_is_taken_and_said(ran: Ran) -> None:
    text = (ran.folder / "h200.toml").read_text("utf-8")
    path = ran.folder / "other.toml"
    path.write_text(text.replace('gpu = "H200"', 'gpu = "NVIDIA Example"'), "utf-8")
    replay = ("replay", ROOT / "examples" / "shared_prefixes.jsonl", "--limit", 5, "--block-size", 256, "--cost", path)
    difference = "other.toml is calibrated with gpu NVIDIA Example, but the replay has H200: there is no sheet of the"
    assert any(note.startswith(difference) for note in command(*replay, "--model", "Qwen3-0.6B").notes)
    sheet = ran.folder / "example-gpu.toml"
    assert load_gpu_sheet(sheet).name == "NVIDIA Example"
    done = command(*replay, "--model", "Qwen3-0.6B", "--gpu", sheet)
    assert not any("calibrated with" in note for note in done.notes)
    assert "calibrated with model Qwen3-0.6B" in command(*replay, "--model", "Qwen3-8B").error


def test_a_client_saw_no_step_to_fit_to(tmp_path: Path) -> None:
    from tests.analysis.vllm_files import write_result

    result, run = write_result(tmp_path / "result.json"), tmp_path / "run"
    assert command("import-vllm", result, "--output", run).code == 0
    assert command("calibrate", run, "-o", tmp_path / "m.toml").error.startswith(
        f"{run} was recorded by a client, which cannot see steps"
    )


def test_llama_is_refused_where_something_is_computed(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    path = tmp_path / "profile.parquet"
    done = command("profile", "--model", "Llama-3.1-8B", "--load-format", "dummy", "--device", "cpu", "-o", path)
    assert done.error.startswith("Llama-3.1-8B is no dense Qwen3")


def test_attention_is_chosen_as_the_table_says() -> None:
    torch = pytest.importorskip("torch")
    from backends.qwen3.attention_choice import AttentionSupport, choose_attention
    from backends.qwen3.attention_torch import TorchKernels

    def chosen(block_size: int, *capability: int) -> str:
        major, minor = capability
        support = AttentionSupport(
            device_name="GPU", capability=(major, minor), flash2_problem=None, flash4_problem=None
        )
        loaded: list[str] = []
        choose_attention(
            device=torch.device("cpu"),
            dtype=torch.bfloat16,
            block_size=block_size,
            head_dim=128,
            probe=lambda _: support,
            load=lambda name: loaded.append(name) or TorchKernels(),  # type: ignore[func-returns-value]
        )
        return loaded[0]

    assert [chosen(size, 9, 0) for size in (16, 256, 512)] == ["flash4", "flash2", "flash2"]
    assert [chosen(256, *each) for each in ((7, 5), (8, 0), (8, 9))] == ["torch", "flash2", "flash2"]
    assert [chosen(16, *each) for each in ((8, 9), (9, 0), (11, 0), (12, 0))] == ["torch", "flash4", "flash4", "torch"]


def test_links_lead_somewhere() -> None:
    assert broken_links(PATH) == []


def test_readme_leads_here() -> None:
    assert "(docs/calibrate.md)" in (ROOT / "README.md").read_text("utf-8")
