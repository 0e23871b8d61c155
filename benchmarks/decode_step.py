"""Time of the engine itself in a decode step: `schedule()` and `update()`, the batch included, without a backend.

python -m benchmarks.decode_step --sequences 256 --steps 2000
"""

import platform
import statistics
from pathlib import Path
from time import perf_counter
from typing import Annotated, NamedTuple

import typer

from engine import (
    HashedPrompt,
    Limits,
    NanoVllmPolicy,
    Policy,
    Request,
    SamplingParams,
    Scheduler,
    StepResult,
    VllmPolicy,
)

_PROMPT_TOKENS = 1000
_BLOCK_SIZE = 16


class Sample(NamedTuple):
    """Times of one step, in seconds."""

    schedule_s: float
    update_s: float


def main(
    sequences: Annotated[int, typer.Option(min=1, help="Running sequences.")] = 256,
    steps: Annotated[int, typer.Option(min=10, help="Decode steps to time.")] = 2000,
    policy: Annotated[str, typer.Option(help="vllm or nano-vllm.")] = "vllm",
) -> None:
    """Print median and 90th percentile."""
    policies: dict[str, Policy] = {"vllm": VllmPolicy(), "nano-vllm": NanoVllmPolicy()}
    if policy not in policies:
        raise typer.BadParameter(f"{policy!r} is no policy; known: {', '.join(policies)}.", param_hint="--policy")
    scheduler = _decoding_scheduler(policies[policy], sequences, steps)
    samples = [_timed_step(scheduler) for _ in range(steps)]
    print(f"{_machine()}")
    print(f"{sequences} running decodes, policy {policy}, block size {_BLOCK_SIZE}, {steps} steps, us:")
    print(f"{'':20}{'median':>10}{'p90':>10}")
    _print_row("schedule()", [each.schedule_s for each in samples])
    _print_row("update()", [each.update_s for each in samples])
    _print_row("both", [sum(each) for each in samples])


def _decoding_scheduler(policy: Policy, num_seqs: int, num_steps: int) -> Scheduler:
    """A scheduler whose sequences have all computed their prompts, and will not end within `num_steps`."""
    max_tokens = num_steps + num_seqs + 10
    max_len = _PROMPT_TOKENS + num_seqs + max_tokens
    limits = Limits(block_size=_BLOCK_SIZE, max_num_seqs=num_seqs, max_model_len=max_len + 1)
    scheduler = Scheduler(limits, num_seqs * (max_len // _BLOCK_SIZE + 2), policy)
    for index in range(num_seqs):
        # Lengths differ, so that in each step some sequences need a block and some fill one.
        prompt = HashedPrompt(_PROMPT_TOKENS + index, (), 512, unique_id=index)
        scheduler.add(Request(f"request-{index}", prompt, SamplingParams(max_tokens=max_tokens, ignore_eos=True)))
    while not _decodes(scheduler, num_seqs):
        pass
    return scheduler


def _decodes(scheduler: Scheduler, num_seqs: int) -> bool:
    batch = scheduler.schedule()
    scheduler.update(batch, _result(batch.shape.num_sampled))
    return batch.shape.num_decode_seqs == num_seqs


def _timed_step(scheduler: Scheduler) -> Sample:
    start = perf_counter()
    batch = scheduler.schedule()
    scheduled = perf_counter()
    result = _result(batch.shape.num_sampled)
    executed = perf_counter()
    scheduler.update(batch, result)
    return Sample(scheduled - start, perf_counter() - executed)


def _result(num_sampled: int) -> StepResult:
    return StepResult(tuple(range(num_sampled)), duration_s=0.0, device_s=0.0)


def _print_row(name: str, times_s: list[float]) -> None:
    p90 = statistics.quantiles(times_s, n=10)[-1]
    print(f"{name:20}{statistics.median(times_s) * 1e6:10.1f}{p90 * 1e6:10.1f}")


def _machine() -> str:
    """Platform, processor and Python, as far as they are known."""
    cpu = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line.partition(":")[2].strip() for line in cpuinfo.read_text().splitlines() if "model name" in line]
        cpu = names[0] if names else cpu
    return f"{platform.platform()}, {cpu}, {platform.python_implementation()} {platform.python_version()}"


if __name__ == "__main__":
    typer.run(main)
