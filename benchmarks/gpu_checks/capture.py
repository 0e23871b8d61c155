"""Captures calls as the backend does, and times them."""

import statistics
import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import torch

from backends.qwen3.cuda_graphs import CudaCapture

Run = Callable[[], None]


def capture_for(*, is_cuda: bool) -> Callable[[Run], Run]:
    """Turns a call into one that replays a CUDA graph; on a CPU the call is run and kept."""
    if is_cuda:
        capture: Callable[[Run], Run] = CudaCapture(torch.cuda.synchronize)
        return capture

    def keep(run: Run) -> Run:
        run()
        return run

    return keep


def time_of(run: Run, *, is_cuda: bool, repeats: int) -> float:
    """Median seconds of `run`, on the device's clock; a captured graph should be given, to leave out the host."""
    if not is_cuda:
        return statistics.median(_wall_s(run) for _ in range(min(repeats, 2)))
    for _ in range(3):
        run()
    event_class: Any = torch.cuda.Event  # torch does not say its types
    events = [event_class(enable_timing=True) for _ in range(repeats + 1)]
    events[0].record()
    for event in events[1:]:
        run()
        event.record()
    torch.cuda.synchronize()
    times_ms: list[float] = [first.elapsed_time(second) for first, second in pairwise(events)]
    return statistics.median(times_ms) / 1e3


def _wall_s(run: Run) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start
