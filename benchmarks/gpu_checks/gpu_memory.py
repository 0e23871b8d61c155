"""Takes a GPU's memory away for a while."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import torch

_SMALLEST_PIECE = 4 * 2**20


def free_bytes() -> int:
    """Free memory of the GPU, with nothing kept ready by this process's allocator."""
    gc.collect()
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    return torch.cuda.mem_get_info()[0]


def _kept_ready() -> list[torch.Tensor]:
    """What this process's allocator holds beside tensors that live, since it gives back whole pieces alone."""
    kept: list[torch.Tensor] = []
    piece = 2**30
    while piece > _SMALLEST_PIECE:
        reserved = torch.cuda.memory_reserved()
        with suppress(torch.OutOfMemoryError):
            taken = torch.empty(piece, dtype=torch.uint8, device="cuda")
            if torch.cuda.memory_reserved() == reserved:
                kept.append(taken)
                continue
            del taken  # it came from what is free
            torch.cuda.empty_cache()
        piece //= 2
    return kept


@contextmanager
def all_taken_but(num_bytes: int) -> Iterator[None]:
    """Inside, about `num_bytes` of the GPU's memory are free, as when another program runs on it."""
    taken, piece = [], free_bytes()
    while piece > _SMALLEST_PIECE:  # not in one: a few bytes are free that cannot be had
        piece = min(piece, torch.cuda.mem_get_info()[0] - num_bytes)
        try:
            taken.append(torch.empty(max(piece, 0), dtype=torch.uint8, device="cuda"))
        except torch.OutOfMemoryError:
            piece //= 2
    taken += _kept_ready()
    try:
        yield
    finally:
        taken.clear()
        free_bytes()
