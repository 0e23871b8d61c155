"""Output tokens per second of the engine on the Qwen3 backend, offline, with random weights.

python -m benchmarks.offline_throughput --block-size 256 --output offline.json
python -m benchmarks.offline_throughput --device cpu --tiny          # to try it without a GPU
"""

import json
import statistics
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from benchmarks.machine_facts import machine_facts, process_age_s
from benchmarks.offline_workload import OfflineWorkload, offline_workload, tiny_workload
from benchmarks.qwen3_engine import POLICIES, TINY, open_engine
from benchmarks.step_totals import StepTotals
from engine import LLM, SamplingParams

_TINY_VOCAB = 509


@dataclass(frozen=True, slots=True)
class Round:
    """One pass over the workload.

    Attributes:
        wall_s: seconds from the first prompt handed over to the last output.
        num_output_tokens: tokens generated.
        totals: of its steps.
    """

    wall_s: float
    num_output_tokens: int
    totals: StepTotals

    @property
    def tokens_per_s(self) -> float:
        """Output tokens per second."""
        return self.num_output_tokens / self.wall_s

    def as_dict(self) -> dict[str, float]:
        """All numbers."""
        own = {"output_tokens_per_s": self.tokens_per_s, "wall_s": self.wall_s}
        return own | {"num_output_tokens": self.num_output_tokens} | self.totals.shares(self.wall_s)


def run_round(engine: LLM, workload: OfflineWorkload, number: int) -> Round:
    """Serve the workload once; asserts that every request gave all its tokens."""
    params = [SamplingParams(temperature=0.6, ignore_eos=True, max_tokens=num) for num in workload.output_lengths]
    prompts, totals = workload.prompts_of_round(number), StepTotals()
    start = time.perf_counter()
    outputs = engine.generate(prompts, params, totals.add)
    wall_s = time.perf_counter() - start
    lengths = tuple([len(output.token_ids) for output in outputs])
    reasons = {output.finish_reason for output in outputs}
    assert lengths == workload.output_lengths, f"Outputs are shorter than asked for; finish reasons: {reasons}"
    return Round(wall_s, sum(lengths), totals)


def summary(rounds: list[Round]) -> dict[str, float]:
    """Best and median of the measured rounds."""
    rates = [each.tokens_per_s for each in rounds]
    return {"best_tokens_per_s": max(rates), "median_tokens_per_s": statistics.median(rates)}


def main(
    block_size: Annotated[int, typer.Option(min=1, help="Tokens in a KV block.")] = 256,
    policy: Annotated[str, typer.Option(help="vllm or nano-vllm.")] = "vllm",
    rounds: Annotated[int, typer.Option(min=1, help="Measured rounds, after one that is not.")] = 3,
    max_model_len: Annotated[int, typer.Option(min=1, help="Longest sequence.")] = 4096,
    attention: Annotated[str, typer.Option(help="As of the backend; auto chooses.")] = "auto",
    model: Annotated[str, typer.Option(help="Named size or sheet file.")] = "Qwen3-0.6B",
    device: Annotated[str, typer.Option(help="cuda or cpu.")] = "cuda",
    output: Annotated[Path | None, typer.Option(help="Write all numbers here, as JSON.")] = None,
    tiny: Annotated[bool, typer.Option(help="A tiny model and workload, to try the program.")] = False,
) -> None:
    """256 requests, 142,827 prompt and 133,966 output tokens, at most 512 sequences and 16,384 tokens a step."""
    if policy not in POLICIES:
        raise typer.BadParameter(f"{policy!r} is no policy; known: {', '.join(POLICIES)}.", param_hint="--policy")
    settings: dict[str, Any] = {
        "model": TINY if tiny else model,
        "block_size": block_size,
        "max_num_seqs": 512,
        "max_num_batched_tokens": 16_384,
        "max_model_len": min(max_model_len, 1024) if tiny else max_model_len,
        "device": device,
        "attention": attention,
    }
    opened_at_s = process_age_s()
    engine, backend = open_engine(policy=POLICIES[policy], **settings)
    with engine:
        ready_s = process_age_s()
        engine.generate([[1, 2, 3]], SamplingParams(max_tokens=1))
        start: dict[str, Any] = {"imports_s": opened_at_s, "ready_s": ready_s, "first_token_s": process_age_s()}
        _print_start(start, backend.notices, backend.num_blocks)
        workload = tiny_workload(_TINY_VOCAB) if tiny else offline_workload()
        warm_up, *measured = [_printed(number, run_round(engine, workload, number)) for number in range(rounds + 1)]
        result = {
            "settings": settings | {"policy": policy, "num_blocks": backend.num_blocks, "notices": backend.notices},
            "start": start,
            "warm_up": warm_up.as_dict(),
            "rounds": [each.as_dict() for each in measured],
            **summary(measured),
        }
    print("  ".join(f"{name} {value:,.0f}" for name, value in summary(measured).items()), flush=True)
    if output:
        output.write_text(json.dumps(machine_facts() | result, indent=1))


def _print_start(start: dict[str, float | None], notices: tuple[str, ...], num_blocks: int) -> None:
    print(*notices, f"{num_blocks} KV blocks.", flush=True)
    times = [f"{name} {value:.1f}" for name, value in start.items() if value is not None]
    print("since the start of the process:", ", ".join(times), flush=True)


def _printed(number: int, each: Round) -> Round:
    totals = each.totals.shares(each.wall_s)
    print(
        f"{f'round {number}' if number else 'warm-up'}: {each.tokens_per_s:,.0f} output tok/s in {each.wall_s:.2f} s, "
        f"{totals['num_steps']} steps ({totals['graph_step_share']:.1%} graphs), "
        f"host {totals['host_share']:.1%} (engine {totals['engine_share']:.1%}), "
        f"prefill {totals['prefill_device_s']:.2f} s of {totals['device_s']:.2f} s on the device, "
        f"{totals['num_hit_tokens']} hit tokens, {totals['num_preempted']} preemptions",
        flush=True,
    )
    return each


if __name__ == "__main__":
    typer.run(main)
