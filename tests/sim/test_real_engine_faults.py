"""What keeps a real model from running is one sentence and exit code 2, from a shell as in code."""

import json
import os
import signal
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from safetensors.numpy import load_file, save_file

from tests.qwen3.tiny_model import VOCAB, save_tiny
from tests.qwen3.tiny_tokenizer import save_tokenizer
from tests.sim.command import Done, command, row, write_rows

TRACE = [row(0, 20, 6), row(0, 30, 6)]
SIZES = (
    "--device",
    "cpu",
    "--block-size",
    16,
    "--num-blocks",
    9,
    "--max-num-batched-tokens",
    64,
    "--max-model-len",
    90,
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save_tiny(tmp_path / "model")
    return tmp_path / "model"


def replay(folder: Path, *flags: object) -> Done:
    trace = write_rows(folder.parent / "trace.jsonl", *TRACE)
    return command("replay", trace, "--backend", "gpu", "--model", folder, *SIZES, "--max-num-seqs", 4, *flags)


def weights(folder: Path) -> Path:
    return folder / "model.safetensors"


def cut(folder: Path) -> None:
    os.truncate(weights(folder), weights(folder).stat().st_size - 100)


def rewrite(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    tensors = load_file(weights(folder))
    change(tensors)
    save_file(tensors, weights(folder), metadata={"format": "pt"})


def forget_a_tensor(folder: Path) -> None:
    rewrite(folder, lambda tensors: tensors.pop("model.layers.1.mlp.up_proj.weight"))


def name_another_vocabulary(folder: Path) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"vocab_size": VOCAB + 3}))


def add_another_tokenizer(folder: Path) -> None:
    save_tokenizer(folder)  # of 300 tokens


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (lambda folder: weights(folder).unlink(), "holds no *.safetensors file; download the weights"),
        (cut, "is cut or no safetensors file"),
        (forget_a_tensor, "model.layers.1.mlp.up_proj.weight"),
        (name_another_vocabulary, "model.embed_tokens.weight"),
        (add_another_tokenizer, f"token id 299 and the model knows 0 to {VOCAB - 1}"),
        (lambda folder: (folder / "config.json").write_text("{"), "config.json"),
    ],
)
def test_a_broken_folder(folder: Path, spoil: Callable[[Path], object], sentence: str) -> None:
    spoil(folder)
    assert sentence in replay(folder).error


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        (("--device", "cuda"), "torch sees no CUDA GPU"),
        (("--attention", "flash2"), "Attention flash2 cannot run here: it needs an NVIDIA GPU"),
        (("--attention", "flash4"), "Attention flash4 cannot run here: it needs an NVIDIA GPU"),
        (("--dtype", "int8"), "dtype is 'int8'"),
        (("--max-model-len", 5000), "the model knows 640 positions"),
        (("--device", "cuda", "--tp", 2), "needs 2 GPUs, torch sees 0"),
    ],
)
def test_what_this_machine_cannot_do(folder: Path, flags: tuple[object, ...], sentence: str) -> None:
    assert sentence in replay(folder, *flags).error


def test_a_port_in_use(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind(("0.0.0.0", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        values = {"RANK": "0", "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
        for name, value in values.items():
            monkeypatch.setenv(name, value)
        assert f"cannot meet at 127.0.0.1:{port}" in replay(folder, "--tp", 2).error


def make_nan(tensors: dict[str, Any]) -> None:
    tensors["lm_head.weight"][:] = float("nan")


def test_logits_that_are_not_numbers_fail_the_requests_by_name(folder: Path) -> None:
    rewrite(folder, make_nan)
    run = folder.parent / "run"
    summary = replay(folder, "--output", run, "--pace", "virtual", "--json").summary
    assert (summary["completed"], summary["failed"]) == (0, 2)
    from analysis.run import load

    requests = load(run).table("requests").to_pylist()
    assert [request["request_id"] for request in requests] == ["r0", "r1"]
    assert all("Its logits are not numbers" in request["reason"] for request in requests)


@pytest.mark.filterwarnings("ignore:.*is deprecated. Please use:FutureWarning")  # torch's, of names of collectives
def test_a_killed_worker_ends_a_replay_with_its_reason(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from backends.qwen3.qwen3_backend import Qwen3Backend

    execute, steps = Qwen3Backend.execute, []

    def kill_first(backend: Qwen3Backend, batch: Any) -> Any:
        steps.append(batch)
        if len(steps) == 3:
            os.kill(backend.worker_pids[0], signal.SIGKILL)
        return execute(backend, batch)

    monkeypatch.setattr(Qwen3Backend, "execute", kill_first)
    run = folder.parent / "run"
    reason = "The process of rank 1 was killed by signal 9; the memory of the host may have run out."
    write_rows(folder.parent / "trace.jsonl", *TRACE, row(10**9, 20, 6))  # nobody waits eleven days for it
    done = command(
        "replay", folder.parent / "trace.jsonl", "--backend", "gpu", "--model", folder, *SIZES, "--tp", 2, "-o", run
    )
    assert (done.code, done.out, len(steps)) == (2, "", 3)
    assert reason in done.err.splitlines()[-1]
    from analysis.run import load

    requests = load(run).table("requests").to_pylist()
    assert [(each["status"], each["reason"]) for each in requests] == [("failed", reason)] * 2 + [("unfinished", None)]
    assert json.loads((run / "summary.json").read_text())["complete"] is False


def test_texts_of_a_trace_are_tokenised_and_a_real_model_keeps_to_the_wall(folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text()) | {"vocab_size": 304}
    (folder / "config.json").write_text(json.dumps(config))
    save_tokenizer(folder, end_ids=[0])
    texts = ["the cat", "naïve café €100"]
    trace = [row(0, 50, 3, prompt=texts[0]), row(200, 50, 3, prompt=texts[1])]
    run = folder.parent / "run"
    path = write_rows(folder.parent / "texts.jsonl", *trace)
    flags = ("--backend", "gpu", "--model", folder, "--load-format", "dummy", *SIZES, "--output", run)
    done = command("replay", path, *flags, "--json")
    from analysis.run import load
    from backends.qwen3.tokenizer import HFTokenizer

    tokenizer = HFTokenizer.from_folder(folder)
    assert tokenizer is not None
    assert done.summary["completed"] == 2
    assert done.summary["wall_s"] >= 0.2  # real time, unless told otherwise
    assert 0 <= done.summary["mean_lag_s"] <= done.summary["max_lag_s"]
    loaded = load(run)
    assert loaded.table("requests").column("input_tokens").to_pylist() == [
        len(tokenizer.encode(text)) for text in texts
    ]
    assert any("2 prompt texts were tokenised" in note for note in done.notes)
    assert any("Attention torch on cpu, block size 16, torch.float32" in note for note in done.notes)
