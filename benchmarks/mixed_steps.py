"""Time of steps in which a prompt of some tokens is computed beside sequences that decode.

python -m benchmarks.mixed_steps --output mixed.json
python -m benchmarks.mixed_steps --no-graphs                         # kernel by kernel
python -m benchmarks.mixed_steps --device cpu --tiny                 # to try it without a GPU
"""

import json
import statistics
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from typing import Annotated, Any

import typer

from backends.simulated import load_model_sheet
from benchmarks.machine_facts import machine_facts
from benchmarks.qwen3_engine import TINY, open_engine
from engine import LLM, BackendError, Batch, SamplingParams, StepResult, VllmPolicy


@dataclass(frozen=True, slots=True)
class MixedStepTime:
    """Medians of steps with one chunk; times in milliseconds.

    Attributes:
        num_decodes: rows that decode.
        context: tokens that a decode row attends to, about.
        num_chunk_tokens: tokens of the prompt.
        step_ms: wall time of the step, the engine included.
        device_ms: of this, with the device busy.
        graph_size: tokens of the graph that ran; None = eager.
    """

    num_decodes: int
    context: int
    num_chunk_tokens: int
    step_ms: float
    device_ms: float
    graph_size: int | None


def measure(
    engine: LLM, *, vocab_size: int, num_decodes: int, context: int, prompt_lengths: list[int], num_steps: int
) -> list[MixedStepTime]:
    """Let `num_decodes` sequences decode, and time the steps in which a prompt of each length comes in."""
    random = Random(num_decodes)
    num_tokens = 3 * num_steps * len(prompt_lengths) + 3 * num_decodes + 100
    params = SamplingParams(temperature=0.6, ignore_eos=True, max_tokens=num_tokens)

    def prompt(length: int) -> list[int]:
        return [random.randrange(vocab_size) for _ in range(length)]

    names = [engine.add_request(prompt(context), params) for _ in range(num_decodes)]
    try:
        for _ in range(2 * num_decodes + 5):
            engine.step()
        return [
            _summarise(
                num_decodes, context, length, [_step_with(engine, prompt(length)) for _ in range(num_steps + 2)][2:]
            )
            for length in prompt_lengths
        ]
    finally:
        for name in names:
            engine.abort(name)


def _step_with(engine: LLM, prompt: list[int]) -> tuple[float, Batch, StepResult]:
    """One step with a new prompt that ends in it, then one without."""
    engine.add_request(prompt, SamplingParams(temperature=0, max_tokens=1))
    timed = _timed_step(engine)
    engine.step()
    return timed


def _timed_step(engine: LLM) -> tuple[float, Batch, StepResult]:
    seen: list[tuple[Batch, StepResult]] = []
    start = time.perf_counter()
    engine.step(lambda *step: seen.append(step))
    wall_s = time.perf_counter() - start
    if not seen:
        raise BackendError("A step computed nothing; give more blocks or fewer sequences.")
    return wall_s, *seen[0]


def _summarise(
    num_decodes: int, context: int, length: int, steps: list[tuple[float, Batch, StepResult]]
) -> MixedStepTime:
    for _, batch, _ in steps:
        shape = batch.shape
        assert (shape.num_decode_seqs, shape.num_prefill_tokens) == (num_decodes, length), shape
    (graph_size,) = {result.graph_size for _, _, result in steps}
    return MixedStepTime(
        num_decodes,
        context,
        length,
        statistics.median(wall_s for wall_s, _, _ in steps) * 1e3,
        statistics.median(result.device_s for _, _, result in steps) * 1e3,
        graph_size,
    )


def main(
    block_size: Annotated[int, typer.Option(min=1, help="Tokens in a KV block.")] = 256,
    sequences: Annotated[str, typer.Option(help="Numbers of sequences that decode, by comma.")] = "0,8,64",
    context: Annotated[int, typer.Option(min=1, help="Tokens of context of these.")] = 1024,
    prompts: Annotated[str, typer.Option(help="Tokens of prompts, by comma.")] = "16,100,500,1000,2000,4000,8000",
    steps: Annotated[int, typer.Option(min=1, help="Steps timed for each.")] = 15,
    max_model_len: Annotated[int, typer.Option(min=1, help="Longest sequence.")] = 40_960,
    attention: Annotated[str, typer.Option(help="As of the backend; auto chooses.")] = "auto",
    model: Annotated[str, typer.Option(help="Named size or sheet file.")] = "Qwen3-0.6B",
    device: Annotated[str, typer.Option(help="cuda or cpu.")] = "cuda",
    graphs: Annotated[bool, typer.Option(help="Run steps in CUDA graphs.")] = True,
    output: Annotated[Path | None, typer.Option(help="Write all numbers here, as JSON.")] = None,
    tiny: Annotated[bool, typer.Option(help="A tiny model and small loads, to try the program.")] = False,
) -> None:
    """Print a line for each kind of step."""
    if tiny:
        model, sequences, context, prompts, steps, max_model_len = TINY, "0,3", 20, "5,30", 2, 512
    settings: dict[str, Any] = {
        "model": model,
        "block_size": block_size,
        "max_num_seqs": 256,
        "max_num_batched_tokens": 16_384,
        "max_model_len": max_model_len,
        "device": device,
        "attention": attention,
        "graphs": graphs,
    }
    engine, backend = open_engine(policy=VllmPolicy(prefix_caching=False), **settings)
    rows: list[MixedStepTime] = []
    with engine:
        print(*backend.notices, f"{backend.num_blocks} KV blocks.", flush=True)
        for num_decodes in map(int, sequences.split(",")):
            found = measure(
                engine,
                vocab_size=load_model_sheet(model).vocab_size,
                num_decodes=num_decodes,
                context=context,
                prompt_lengths=list(map(int, prompts.split(","))),
                num_steps=steps,
            )
            print(*found, sep="\n", flush=True)
            rows += found
    if output:
        output.write_text(
            json.dumps(machine_facts() | {"settings": settings, "steps": list(map(asdict, rows))}, indent=1)
        )


if __name__ == "__main__":
    typer.run(main)
