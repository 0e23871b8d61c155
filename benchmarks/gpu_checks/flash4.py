"""Attention by flash-attn's CuTe version, alone and in the model, in small and large blocks.

All in one group, because each process compiles its kernels anew.
"""

from collections.abc import Iterator
from functools import partial

from backends.qwen3.named_config import named_config
from benchmarks.gpu_checks.attention_cases import attention_cases
from benchmarks.gpu_checks.attention_kind import AttentionKind
from benchmarks.gpu_checks.case import Case
from benchmarks.gpu_checks.end_to_end import end_to_end_cases
from benchmarks.gpu_checks.graphs import graph_cases
from benchmarks.gpu_checks.parity import close_in_bfloat16
from benchmarks.gpu_checks.setup import Setup


def cases(setup: Setup) -> Iterator[Case]:
    """The kernels in blocks of 16 and 256 and beside flash-attn 2, then the model in blocks of 16."""
    small = AttentionKind("flash4", 16)
    for kind in (small, AttentionKind("flash4", 256), AttentionKind("flash2+flash4", 256)):
        yield from attention_cases(setup, kind)
    config, sizes = named_config(setup.model), (1, 2, 8, 64) if setup.is_cuda else (1, 2)
    yield Case(f"{small}: parity", partial(close_in_bfloat16, setup, config, "published tied", small))
    yield from graph_cases(setup, small, sizes)
    yield from end_to_end_cases(setup, small, ("graphs", "chunked", "prefix hits", "preemption"))
