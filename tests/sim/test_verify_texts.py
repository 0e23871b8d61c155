"""`python -m sim verify` on runs whose prompts are texts, and on runs whose model is not here any more."""

import json
from pathlib import Path

import pytest

from analysis.arrow_values import to_numpy
from analysis.run import load
from tests.qwen3.tiny_tokenizer import save_tokenizer
from tests.sim.command import command, row, write_rows
from tests.sim.recorded_runs import change_json
from tests.sim.tiny_qwen3 import CONFIG, tiny_engine

SIZES = ("--block-size", 16, "--num-blocks", 40, "--max-num-batched-tokens", 64, "--max-model-len", 200)


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """The first two share what is worth more than a block."""
    shared = "the cat sat on the mat, " * 10
    rows = [row(0, 9, 4, prompt=shared + "once"), row(900, 9, 4, prompt=shared + "twice"), row(950, 9, 4, prompt="end")]
    return write_rows(tmp_path / "trace.jsonl", *rows)


@pytest.fixture
def engine(tmp_path: Path) -> tuple[object, ...]:
    flags = tiny_engine(tmp_path)
    folder = Path(str(flags[flags.index("--model") + 1]))
    (folder / "config.json").write_text(json.dumps(CONFIG | {"vocab_size": 300}))
    save_tokenizer(folder)
    return *flags, *SIZES, "--pace", "virtual"


def test_prompt_texts_are_tokenised_again(trace: Path, engine: tuple[object, ...], tmp_path: Path) -> None:
    done = command("replay", trace, *engine, "--output", tmp_path / "run")
    assert done.code == 0, done.err
    hits = to_numpy(load(tmp_path / "run").table("requests").column("hit_tokens"))
    assert hits[1] > 0

    done = command("verify", tmp_path / "run")
    assert (done.code, done.err) == (0, "")
    assert done.out.endswith(f" 0 preemptions, {hits.sum()} hit tokens\n")

    (tmp_path / "Qwen3-0.6B").rename(tmp_path / "elsewhere")
    assert "prompts are texts, and the model folder" in command("verify", tmp_path / "run").error


def test_model_is_not_needed_where_prompts_are_lengths(engine: tuple[object, ...], tmp_path: Path) -> None:
    trace = write_rows(tmp_path / "lengths.jsonl", row(0, 40, 6, hash_ids=[1]), row(0, 40, 6, hash_ids=[1]))
    command("replay", trace, *engine, "--trace-block-size", 40, "--output", tmp_path / "run")
    (tmp_path / "Qwen3-0.6B").rename(tmp_path / "elsewhere")

    assert command("verify", tmp_path / "run").code == 0

    settings = load(tmp_path / "run").meta["settings"] | {"model": "nobody/unknown"}
    change_json(tmp_path / "run" / "meta.json", settings=settings)
    assert command("verify", tmp_path / "run").code == 0

    change_json(tmp_path / "run" / "meta.json", vocab_size=None)
    assert "nobody/unknown" in command("verify", tmp_path / "run").error


def test_texts_of_a_run_without_tokenizer_are_unique_again(trace: Path, tmp_path: Path) -> None:
    command("replay", trace, "--num-blocks", 40, "--output", tmp_path / "run")

    assert command("verify", tmp_path / "run").out.endswith(" 0 hit tokens\n")
