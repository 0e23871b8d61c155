"""What can go wrong is one clear sentence, and hurts nobody else."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import torch

from backends.qwen3.config import DTYPES
from backends.qwen3.errors import ModelError
from backends.qwen3.qwen3_backend import Qwen3Backend
from benchmarks.gpu_checks.case import Case, Verdict
from benchmarks.gpu_checks.checkpoints import save_random
from benchmarks.gpu_checks.end_to_end import engine_on, open_folder
from benchmarks.gpu_checks.gpu_memory import all_taken_but
from benchmarks.gpu_checks.greedy_margins import GreedyJudge
from benchmarks.gpu_checks.parity import small_config
from benchmarks.gpu_checks.setup import Setup
from engine import SamplingParams
from engine.llm import OnStep

_MIB = 2**20
_GREEDY = SamplingParams(temperature=0, max_tokens=8)
_NAN_TOKEN = 300


def cases(setup: Setup) -> Iterator[Case]:
    """Each fault that this hardware can show."""
    refused: dict[str, tuple[str, dict[str, object]]] = {
        "no memory for the cache": ("No memory is left for the KV cache", {"memory_utilization": 0.01}),
        "too many blocks": ("does not fit into GPU", {"num_blocks": 10**6}),
        "no such GPU": ("torch sees", {"device": "cuda:63"}),
        "flash2 in small blocks": ("Attention flash2 cannot run here", {"attention": "flash2", "block_size": 16}),
        "flash2 in float32": ("Attention flash2 cannot run here", {"attention": "flash2", "dtype": "float32"}),
        "unknown attention": ("is unknown; use one of", {"attention": "magic"}),
    }
    for name, (sentence, options) in refused.items():
        yield Case(name, partial(_is_refused, setup, sentence, options, needs_cuda="cache" in name or "many" in name))
    yield Case("GPU taken by another program", partial(_taken, setup))
    yield Case("a second engine on the GPU", partial(_second_engine, setup))
    yield Case("no memory in a step", partial(_no_memory_in_a_step, setup))
    yield Case("NaN in some rows", partial(_nan_rows, setup))


def _open(setup: Setup, **options: object) -> Qwen3Backend:
    small = {"device": setup.device, "max_num_seqs": 16, "max_num_batched_tokens": 2048, "max_model_len": 1024}
    return Qwen3Backend.from_dims(setup.model, **small | {"graph_sizes": (1, 8)} | options)


def _refusal(setup: Setup, **options: object) -> str:
    try:
        backend = _open(setup, **options)
    except ModelError as error:
        return str(error)
    backend.close()
    return "It was not refused."


def _is_refused(setup: Setup, sentence: str, options: dict[str, object], *, needs_cuda: bool) -> Verdict:
    if needs_cuda:
        setup.need_cuda()
    said = _refusal(setup, **options)
    return Verdict(sentence in said and "\n" not in said, {"said": said})


def _generates(backend: Qwen3Backend, num_tokens: int = 20, on_step: OnStep | None = None) -> str:
    """Reasons why two different requests of `num_tokens`, in one step, ended."""
    prompts = [[(first + i) % 500 for i in range(num_tokens)] for first in range(2)]
    outputs = engine_on(backend).generate(prompts, _GREEDY, on_step)
    return " ".join({output.finish_reason for output in outputs})


def _taken(setup: Setup) -> Verdict:
    setup.need_cuda()
    with all_taken_but(512 * _MIB):
        said = _refusal(setup)
    with _open(setup, num_blocks=20) as backend:  # it was the memory
        reason = _generates(backend)
    return Verdict("does not fit into GPU" in said and reason == "length", {"said": said, "afterwards": reason})


def _second_engine(setup: Setup) -> Verdict:
    """The first takes 40 %: a second of the same share finds nothing left, one with twice the share lives beside it."""
    setup.need_cuda()
    with _open(setup, memory_utilization=0.4) as first:
        said = _refusal(setup, memory_utilization=0.4)
        with _open(setup, memory_utilization=0.8) as second:
            reasons = {_generates(first), _generates(second)}
            blocks = {"first_blocks": first.num_blocks, "second_blocks": second.num_blocks}
    is_ok = "No memory is left for the KV cache" in said and "other processes" in said and reasons == {"length"}
    return Verdict(is_ok, {"said": said, "reasons": str(reasons), **blocks})


def _no_memory_in_a_step(setup: Setup) -> Verdict:
    """The step would fit, but something else has taken the memory since the start; later it is there again.

    What runs in a graph has had its memory since the start, so the prompts run eager.
    """
    setup.need_cuda()
    sizes: list[int | None] = []
    with _open(setup, num_blocks=20, mixed_graph_sizes=()) as backend:
        with all_taken_but(8 * _MIB):
            said = _generates(backend, 1000)
        reason = _generates(backend, 1000, lambda _, result: sizes.append(result.graph_size))
    is_ok = "The GPU has run out of memory in a step" in said and reason == "length" and sizes[0] is None
    return Verdict(is_ok, {"said": said, "afterwards": reason, "ran_eager": sizes.count(None)})


def _nan_rows(setup: Setup) -> Verdict:
    """One token's embedding is NaN: requests with it fail, twice, and their blocks serve the others afterwards."""
    clean, poisoned = _poisoned_checkpoint(setup)
    kind = setup.usual_attention
    good = [[i + j for j in range(kind.block_size + 9)] for i in range(5)]
    bad = [[*prompt[:40], _NAN_TOKEN, 7] for prompt in good[:3]]
    with open_folder(setup, poisoned, kind, num_blocks=24) as backend:
        engine = engine_on(backend)
        outputs = [engine.generate([*good, *bad], _GREEDY) for _ in range(2)]
        outputs.append(engine.generate([[9, *prompt] for prompt in good * 2], _GREEDY))
    failed = [output for each in outputs[:2] for output in each[5:]]
    alive = [output for each in (outputs[0][:5], outputs[1][:5], outputs[2]) for output in each]
    numbers = {"failed": sum(output.status == "failed" and "not numbers" in output.finish_reason for output in failed)}
    numbers |= {"alive": sum(output.status == "finished" for output in alive)}
    judge = GreedyJudge(clean, setup.device, DTYPES[kind.dtype_name])
    verdict = judge.verdict([(output.prompt_token_ids, output.token_ids) for output in alive], **numbers)
    return Verdict(verdict.is_ok and numbers == {"failed": 6, "alive": 20}, verdict.numbers)


def _poisoned_checkpoint(setup: Setup) -> tuple[Path, Path]:
    """A checkpoint, and the same with NaN for the embedding of one token that no request will ever generate."""
    from safetensors.torch import load_file, save_file

    config = replace(small_config(setup), tie_word_embeddings=False)
    clean = save_random(setup.scratch / "clean", config, setup.device)
    poisoned = save_random(setup.scratch / "poisoned", config, setup.device)
    tensors = load_file(clean / "model.safetensors")
    tensors["lm_head.weight"][_NAN_TOKEN] = 0
    save_file(tensors, clean / "model.safetensors", metadata={"format": "pt"})
    tensors["model.embed_tokens.weight"][_NAN_TOKEN] = torch.nan
    save_file(tensors, poisoned / "model.safetensors", metadata={"format": "pt"})
    return clean, poisoned
