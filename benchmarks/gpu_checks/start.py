"""How long a start takes, and what is left when the engine has been closed."""

import os
import tempfile
import time
from collections.abc import Iterator
from functools import partial

from benchmarks.gpu_checks.case import Case, Number, Verdict
from benchmarks.gpu_checks.setup import Setup
from benchmarks.machine_facts import process_age_s
from benchmarks.qwen3_engine import open_engine
from engine import SamplingParams, VllmPolicy

_COLD_START_LIMIT_S = 45
_LEFT_LIMIT_MIB = 128
"""Workspaces of cuBLAS, one for each stream that ever ran a matrix product, belong to the process until it ends."""


def cases(setup: Setup) -> Iterator[Case]:
    """In this order: the first is cold because nothing has run before it in this process."""
    yield Case("cold start", partial(_cold_start, setup))
    yield Case("memory after close", partial(_memory_after_close, setup))


def _cold_start(setup: Setup) -> Verdict:
    """From the start of the process to the first token, no kernel compiled before, at the limits of a real run."""
    with tempfile.TemporaryDirectory() as no_cache:
        os.environ["TRITON_CACHE_DIR"] = no_cache
        numbers: dict[str, Number] = {"imports_s": process_age_s()}
        numbers |= _first_token(setup) | {"process_age_s": process_age_s()}
        del os.environ["TRITON_CACHE_DIR"]
    age_s = numbers["process_age_s"]
    return Verdict(isinstance(age_s, float) and age_s < _COLD_START_LIMIT_S, numbers)


def _first_token(setup: Setup) -> dict[str, Number]:
    """Seconds to an open engine and to a first token after that."""
    start = time.perf_counter()
    engine, backend = open_engine(
        setup.model,
        policy=VllmPolicy(),
        block_size=setup.usual_attention.block_size,
        max_num_seqs=512 if setup.is_cuda else 8,
        max_num_batched_tokens=16_384 if setup.is_cuda else 64,
        max_model_len=4096 if setup.is_cuda else 256,
        device=setup.device,
    )
    with engine:
        opened = time.perf_counter()
        (output,) = engine.generate([[1, 2, 3]], SamplingParams(temperature=0, max_tokens=1))
        assert output.finish_reason == "length", output.finish_reason
        token = time.perf_counter()
        return {"open_s": opened - start, "token_s": token - opened, "num_blocks": backend.num_blocks}


def _memory_after_close(setup: Setup) -> Verdict:
    """Open and close twice more: what the second time leaves beyond the first is a leak."""
    setup.need_cuda()
    import torch

    from benchmarks.gpu_checks.gpu_memory import free_bytes

    numbers = _first_token(setup)
    before = free_bytes()
    _first_token(setup)
    numbers |= {"left_MiB": (before - free_bytes()) / 2**20, "tensors_MiB": torch.cuda.memory_allocated() / 2**20}
    return Verdict(float(numbers["left_MiB"] or 0) < _LEFT_LIMIT_MIB, numbers)
