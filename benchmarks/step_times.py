"""Time of decode steps by number of sequences and context, beside the bytes that they must move.

python -m benchmarks.step_times --block-size 256 --output steps.json
python -m benchmarks.step_times --device cpu --tiny                  # to try it without a GPU
"""

import json
import statistics
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from backends.simulated import ModelSheet, load_model_sheet
from benchmarks.decode_bytes import decode_step_bytes
from benchmarks.machine_facts import machine_facts
from benchmarks.qwen3_engine import TINY, open_engine
from engine import LLM, BackendError, Batch, SamplingParams, StepResult, VllmPolicy

_BYTES_PER_S = 4.3e12
"""What a copy reaches on an H200, reads and writes counted."""
_WARM_UP_STEPS = 5


@dataclass(frozen=True, slots=True)
class StepTime:
    """Medians of decode steps of one load; times in milliseconds.

    Attributes:
        num_seqs: rows of each step.
        context: mean tokens that a row attends to, over all steps.
        step_ms: wall time from one step to the next, the engine included.
        execute_ms: of this, in the backend.
        device_ms: of this, with the device busy.
        host_ms: median of step time less device time.
        graph_size: rows of the graph that ran; None = eager.
        megabytes: that a step must move at least.
        bound_ms: time that these take at 4.3 TB/s.
    """

    num_seqs: int
    context: float
    step_ms: float
    execute_ms: float
    device_ms: float
    host_ms: float
    graph_size: int | None
    megabytes: float
    bound_ms: float


def measure(engine: LLM, model: ModelSheet, num_seqs: int, context: int, num_steps: int) -> StepTime:
    """Prefill `num_seqs` random prompts, and time steps while all of them decode, around `context` tokens each."""
    random, length = Random(num_seqs), max(1, context - num_steps // 2 - _WARM_UP_STEPS)
    params = SamplingParams(temperature=0.6, ignore_eos=True, max_tokens=2 * num_steps + num_seqs + 100)
    prompts = [[random.randrange(model.vocab_size) for _ in range(length)] for _ in range(num_seqs)]
    names = [engine.add_request(prompt, params) for prompt in prompts]
    seen: list[tuple[Batch, StepResult]] = []
    try:
        while not _all_decode(seen, num_seqs):
            _timed_step(engine, seen)
        walls = [_timed_step(engine, seen) for _ in range(_WARM_UP_STEPS + num_steps)]
    finally:
        for name in names:
            engine.abort(name)
    return summarise(model, walls[_WARM_UP_STEPS:], seen[-num_steps:])


def summarise(model: ModelSheet, walls_s: Sequence[float], steps: Sequence[tuple[Batch, StepResult]]) -> StepTime:
    """Medians of equal decode steps, `walls_s` seconds each."""
    batches, results = zip(*steps, strict=True)
    num_seqs = len(batches[0])
    assert all(len(batch) == num_seqs == batch.shape.num_decode_seqs for batch in batches), "not all rows decode"
    context = statistics.mean(batch.shape.decode_context for batch in batches) / num_seqs
    num_bytes = decode_step_bytes(model, [round(context)] * num_seqs)
    (graph_size,) = {result.graph_size for result in results}
    return StepTime(
        num_seqs=num_seqs,
        context=context,
        step_ms=statistics.median(walls_s) * 1e3,
        execute_ms=statistics.median(result.duration_s for result in results) * 1e3,
        device_ms=statistics.median(result.device_s for result in results) * 1e3,
        host_ms=statistics.median(wall - r.device_s for wall, r in zip(walls_s, results, strict=True)) * 1e3,
        graph_size=graph_size,
        megabytes=num_bytes / 1e6,
        bound_ms=num_bytes / _BYTES_PER_S * 1e3,
    )


def _all_decode(seen: list[tuple[Batch, StepResult]], num_seqs: int) -> bool:
    return bool(seen) and seen[-1][0].shape.num_decode_seqs == num_seqs


def _timed_step(engine: LLM, seen: list[tuple[Batch, StepResult]]) -> float:
    start = time.perf_counter()
    progress = engine.step(lambda *step: seen.append(step))
    wall_s = time.perf_counter() - start
    for ended in progress.ended:  # none may: too many tokens for the pool would end some, and prove nothing
        raise BackendError(f"Request {ended.request_id} ended while it was measured: {ended.reason}")
    return wall_s


def main(
    block_size: Annotated[int, typer.Option(min=1, help="Tokens in a KV block.")] = 256,
    sequences: Annotated[str, typer.Option(help="Numbers of sequences, by comma.")] = "1,8,32,128,256",
    contexts: Annotated[str, typer.Option(help="Tokens of context, by comma.")] = "512,2048",
    steps: Annotated[int, typer.Option(min=3, help="Steps timed for each.")] = 60,
    max_model_len: Annotated[int, typer.Option(min=1, help="Longest sequence.")] = 4096,
    attention: Annotated[str, typer.Option(help="As of the backend; auto chooses.")] = "auto",
    model: Annotated[str, typer.Option(help="Named size or sheet file.")] = "Qwen3-0.6B",
    device: Annotated[str, typer.Option(help="cuda or cpu.")] = "cuda",
    output: Annotated[Path | None, typer.Option(help="Write all numbers here, as JSON.")] = None,
    tiny: Annotated[bool, typer.Option(help="A tiny model and small loads, to try the program.")] = False,
) -> None:
    """Print a table of decode steps."""
    if tiny:
        model, sequences, contexts, steps, max_model_len = TINY, "1,3", "40,70", 4, 512
    loads = [(int(num), int(context)) for context in contexts.split(",") for num in sequences.split(",")]
    settings: dict[str, Any] = {
        "model": model,
        "block_size": block_size,
        "max_num_seqs": max(num for num, _ in loads),
        "max_num_batched_tokens": 16_384,
        "max_model_len": max_model_len,
        "device": device,
        "attention": attention,
    }
    # Without prefix caching: freed blocks need no keys, and no load depends on the one before.
    engine, backend = open_engine(policy=VllmPolicy(prefix_caching=False), **settings)
    sheet, rows = load_model_sheet(model), []
    with engine:
        print(*backend.notices, f"{backend.num_blocks} KV blocks.", flush=True)
        for num_seqs, context in loads:
            rows.append(measure(engine, sheet, num_seqs, context, steps))
            print(rows[-1], flush=True)
            _write(output, settings | {"notices": backend.notices, "num_blocks": backend.num_blocks}, rows)
    Console(width=120).print(_table(rows, block_size))


def _write(output: Path | None, settings: dict[str, Any], rows: list[StepTime]) -> None:
    if output:
        output.write_text(
            json.dumps(machine_facts() | {"settings": settings, "steps": list(map(asdict, rows))}, indent=1)
        )


def _table(rows: list[StepTime], block_size: int) -> Table:
    names = ("sequences", "context", "step ms", "backend ms", "GPU ms", "host ms", "MB", "ms at 4.3 TB/s", "graph")
    table = Table(*names, title=f"Decode steps, block size {block_size}")
    for row in rows:
        times = (row.step_ms, row.execute_ms, row.device_ms, row.host_ms)
        table.add_row(
            str(row.num_seqs), f"{row.context:.0f}", *[f"{each:.3f}" for each in times], f"{row.megabytes:,.0f}",
            f"{row.bound_ms:.3f}", str(row.graph_size or "eager"),
        )  # fmt: skip
    return table


if __name__ == "__main__":
    typer.run(main)
