"""Two ranks give what one gives, and one that dies ends the engine in seconds."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import torch

from backends.qwen3.config import DTYPES
from backends.qwen3.qwen3_backend import Qwen3Backend
from benchmarks.gpu_checks.attention_kind import AttentionKind
from benchmarks.gpu_checks.case import Case, NotHereError, Verdict
from benchmarks.gpu_checks.checkpoints import save_random
from benchmarks.gpu_checks.end_to_end import engine_on, open_folder, published_folder
from benchmarks.gpu_checks.greedy_margins import GreedyJudge
from benchmarks.gpu_checks.parity import small_config
from benchmarks.gpu_checks.setup import Setup
from benchmarks.step_totals import StepTotals
from engine import Batch, SamplingParams, StepResult

_GREEDY = SamplingParams(temperature=0, max_tokens=24)
_DEATH_LIMIT_S = 15
_RANKS_LIMIT_S = 90


def cases(setup: Setup) -> Iterator[Case]:
    """Needs two GPUs, or a CPU to try it."""
    yield Case("collectives in a graph", partial(_collectives, setup))
    yield Case("float32 tokens of one and two ranks", partial(_equal_tokens, setup))
    for has_graphs in (True, False):
        yield Case(f"bfloat16 {'graphs' if has_graphs else 'eager'}", partial(_close_tokens, setup, has_graphs))
    yield Case("a killed worker", partial(_killed_worker, setup))
    yield Case("after a killed worker", partial(_close_tokens, setup, has_graphs=True))


def _need_two(setup: Setup) -> None:
    if setup.is_cuda and torch.cuda.device_count() < 2:
        raise NotHereError(f"skipped: needs 2 GPUs, there are {torch.cuda.device_count()}")


def _prompts(kind: AttentionKind) -> list[list[int]]:
    return [[(3 * i + 7 * j) % 500 for j in range(length)] for i, length in enumerate((1, 9, kind.block_size + 5, 60))]


def _collectives(setup: Setup) -> Verdict:
    _need_two(setup)
    command = [sys.executable, "-m", "benchmarks.gpu_checks.collectives"]
    store, devices = str(setup.scratch / "collectives"), [f"cuda:{rank}" if setup.is_cuda else "cpu" for rank in (0, 1)]
    ranks = [subprocess.Popen([*command, str(rank), store, device]) for rank, device in enumerate(devices)]
    deadline = time.monotonic() + _RANKS_LIMIT_S
    try:
        codes = [rank.wait(max(0.1, deadline - time.monotonic())) for rank in ranks]
    finally:
        for rank in ranks:
            rank.kill()
    return Verdict(codes == [0, 0], {"exit_codes": str(codes)})


def _equal_tokens(setup: Setup) -> Verdict:
    """A vocabulary that two ranks cannot share evenly, in float32 with plain attention."""
    _need_two(setup)
    config = replace(small_config(setup), tie_word_embeddings=False)
    folder = save_random(setup.scratch / "small-untied", config, setup.device)
    outputs, kind = [], AttentionKind("torch", 16, "float32")
    for num_ranks in (1, 2):
        backend = open_folder(
            setup, folder, kind, tensor_parallel=num_ranks, dtype="float32", attention="torch", graphs=False
        )
        with engine_on(backend) as engine:
            outputs.append([output.token_ids for output in engine.generate(_prompts(kind), _GREEDY)])
    equal = sum(a == b for a, b in zip(*outputs, strict=True))
    return Verdict(outputs[0] == outputs[1], {"requests": len(outputs[0]), "equal": equal})


def _open_two(setup: Setup, folder: Path, *, has_graphs: bool = True) -> tuple[Qwen3Backend, float]:
    _need_two(setup)
    start = time.perf_counter()
    backend = open_folder(setup, folder, setup.usual_attention, tensor_parallel=2, graphs=has_graphs)
    return backend, time.perf_counter() - start


def _close_tokens(setup: Setup, has_graphs: bool) -> Verdict:
    _need_two(setup)
    folder, kind, totals = published_folder(setup), setup.usual_attention, StepTotals()
    backend, open_s = _open_two(setup, folder, has_graphs=has_graphs)
    with engine_on(backend) as engine:
        outputs = engine.generate(_prompts(kind), _GREEDY, totals.add)
    pairs = [(output.prompt_token_ids, output.token_ids) for output in outputs]
    step_ms = 1e3 * totals.execute_s / totals.num_steps
    judge = GreedyJudge(folder, setup.device, DTYPES[kind.dtype_name])
    return judge.verdict(pairs, open_s=open_s, step_ms=step_ms, graph_steps=totals.num_graph_steps)


def _killed_worker(setup: Setup) -> Verdict:
    """Killed within a run: all requests fail with a sentence about it, soon, and no process is left."""
    folder = published_folder(setup)
    backend, _ = _open_two(setup, folder)
    (pid,) = backend.worker_pids
    killed_at: list[float] = []

    def kill(batch: Batch, _: StepResult) -> None:
        if batch.step == 5:
            killed_at.append(time.perf_counter())
            os.kill(pid, signal.SIGKILL)

    with engine_on(backend) as engine:
        outputs = engine.generate(_prompts(setup.usual_attention), _GREEDY, kill)
        seconds = time.perf_counter() - killed_at[0]
    reason, statuses = outputs[0].finish_reason, {output.status for output in outputs}
    is_ok = statuses == {"failed"} and "rank 1" in reason and seconds < _DEATH_LIMIT_S and not _is_alive(pid)
    return Verdict(is_ok, {"said": reason, "seconds": seconds, "worker_alive": _is_alive(pid)})


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
