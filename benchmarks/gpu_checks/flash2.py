"""Attention by flash-attn 2.x."""

from collections.abc import Iterator

from benchmarks.gpu_checks.attention_cases import attention_cases
from benchmarks.gpu_checks.attention_kind import AttentionKind
from benchmarks.gpu_checks.case import Case
from benchmarks.gpu_checks.setup import Setup


def cases(setup: Setup) -> Iterator[Case]:
    """In both dtypes, and in blocks of twice the smallest size."""
    for kind in (
        AttentionKind("flash2", 256),
        AttentionKind("flash2", 256, "float16"),
        AttentionKind("flash2", 512),
    ):
        yield from attention_cases(setup, kind)
