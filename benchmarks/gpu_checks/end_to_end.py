"""Greedy outputs of the whole engine are those of transformers, whatever the scheduler does on the way."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from random import Random

from backends.qwen3.config import DTYPES
from backends.qwen3.errors import ModelError
from backends.qwen3.named_config import named_config
from backends.qwen3.qwen3_backend import Qwen3Backend
from benchmarks.gpu_checks.attention_kind import AttentionKind
from benchmarks.gpu_checks.case import Case, NotHereError, Verdict
from benchmarks.gpu_checks.checkpoints import save_random
from benchmarks.gpu_checks.greedy_margins import GreedyJudge
from benchmarks.gpu_checks.setup import Setup
from benchmarks.step_totals import StepTotals
from engine import LLM, NanoVllmPolicy, Policy, SamplingParams, VllmPolicy

_OUTPUT_TOKENS = 24
_MAX_SEQS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """How a run of the engine is cut up, and what must have happened in it."""

    lengths: Callable[[int], list[int]]
    budget: Callable[[int], int] = lambda _: 4096
    policy: Policy = field(default_factory=VllmPolicy)
    num_blocks: Callable[[int], int] = lambda _: 200
    shared_blocks: int = 0
    graphs: bool = True
    has_happened: Callable[[StepTotals], bool] = lambda _: True


def _mixed(block: int) -> list[int]:
    return [5, 17, block - 6, block, block + 1, 2 * block + 37, 1, 40]


def _at_the_edge(block: int) -> list[int]:
    return [block - 6] * 8  # each needs a second block after six tokens


_RUNS = {
    "graphs": _Run(lengths=_mixed, has_happened=lambda totals: totals.num_prefill_steps > 0),
    "eager": _Run(lengths=_mixed, graphs=False, has_happened=lambda totals: totals.num_graph_steps == 0),
    "chunked": _Run(
        lengths=_mixed, budget=lambda block: block // 2, has_happened=lambda totals: totals.num_prefill_steps > 5
    ),
    "prefix hits": _Run(lengths=_mixed, shared_blocks=2, has_happened=lambda totals: totals.num_hit_tokens > 0),
    "preemption": _Run(
        lengths=_at_the_edge, num_blocks=lambda _: 10, has_happened=lambda totals: totals.num_preempted > 0
    ),
    "nano-vllm": _Run(lengths=_mixed, policy=NanoVllmPolicy(), shared_blocks=1),
}


def cases(setup: Setup) -> Iterator[Case]:
    """All runs with the usual attention."""
    yield from end_to_end_cases(setup, setup.usual_attention, tuple(_RUNS))


def end_to_end_cases(setup: Setup, kind: AttentionKind, names: tuple[str, ...]) -> Iterator[Case]:
    """Some runs with an attention."""
    judge = cache(lambda: GreedyJudge(published_folder(setup), setup.device, DTYPES[kind.dtype_name]))
    for name in names:
        yield Case(f"{kind}: {name}", partial(_greedy, setup, kind, _RUNS[name], judge))


def published_folder(setup: Setup) -> Path:
    """The checkpoint of the published size with random weights; written at the first call."""
    return save_random(setup.scratch / "published", named_config(setup.model), setup.device)


def open_folder(setup: Setup, folder: Path, kind: AttentionKind, **options: object) -> Qwen3Backend:
    """The backend on a checkpoint, on small limits.

    Raises:
        NotHereError: the attention cannot run here.
    """
    defaults = {
        "device": setup.device,
        "block_size": kind.block_size,
        "attention": kind.name if setup.is_cuda else "torch",
        "max_num_seqs": _MAX_SEQS,
        "max_num_batched_tokens": 4096,
        "max_model_len": 2048,
        "num_blocks": 200,
    }
    try:
        return Qwen3Backend.from_folder(folder, **defaults | options)[0]
    except ModelError as error:
        if "cannot run here" in str(error):
            raise NotHereError(str(error)) from None
        raise


def engine_on(backend: Qwen3Backend, policy: Policy | None = None, budget: int | None = None) -> LLM:
    """An engine with the backend's limits, or with a smaller token budget."""
    return LLM(backend, policy=policy, max_num_batched_tokens=budget or backend.limits.max_num_batched_tokens)


def _greedy(setup: Setup, kind: AttentionKind, run: _Run, judge: Callable[[], GreedyJudge]) -> Verdict:
    folder, totals, prompts = published_folder(setup), StepTotals(), _prompts(setup, kind, run)
    backend = open_folder(setup, folder, kind, num_blocks=run.num_blocks(kind.block_size), graphs=run.graphs)
    with engine_on(backend, run.policy, run.budget(kind.block_size)) as engine:
        outputs = engine.generate(prompts, SamplingParams(temperature=0, max_tokens=_OUTPUT_TOKENS), totals.add)
    unfinished = {output.finish_reason for output in outputs if output.status != "finished"}
    assert not unfinished, f"Requests have not finished: {unfinished}"
    assert run.has_happened(totals), f"What this run is about has not happened: {totals}"
    if setup.is_cuda and run.graphs:
        assert totals.num_graph_steps > 0, "no step ran in a graph"
    pairs = [(output.prompt_token_ids, output.token_ids) for output in outputs]
    numbers = {"steps": totals.num_steps, "graph_steps": totals.num_graph_steps, "preempted": totals.num_preempted}
    return judge().verdict(pairs, **numbers, hit_tokens=totals.num_hit_tokens)


def _prompts(setup: Setup, kind: AttentionKind, run: _Run) -> list[list[int]]:
    random, vocab_size = Random(11), named_config(setup.model).vocab_size
    shared = [random.randrange(vocab_size) for _ in range(run.shared_blocks * kind.block_size)]
    lengths = run.lengths(kind.block_size)
    return [shared + [random.randrange(vocab_size) for _ in range(length)] for length in lengths]
