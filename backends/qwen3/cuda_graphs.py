"""Capturing CUDA graphs: one launch in place of hundreds."""

from collections.abc import Callable
from typing import Protocol

import torch


class Capture(Protocol):
    """Turns a call into one that can be repeated without the host: same memory, new contents."""

    def __call__(self, run: Callable[[], None]) -> Callable[[], None]:
        """Capture what `run` launches; returns what launches it again."""
        ...


class CudaCapture:
    """Captures CUDA graphs that share one pool of memory: only one runs at a time, so they may overwrite each other.

    Capture the largest first; the others then fit into its memory. Uses one stream of its own and not
    `torch.cuda.graph`, which may collect garbage before each capture: that would be most of the start-up time.

    Args:
        settle: waits until the current stream is idle.
    """

    def __init__(self, settle: Callable[[], None]) -> None:
        self._settle = settle
        self._stream = torch.cuda.Stream()
        self._pool = torch.cuda.graph_pool_handle()

    def __call__(self, run: Callable[[], None]) -> Callable[[], None]:
        """Run once, so that kernels are compiled and libraries have their workspaces, then capture."""
        graph = torch.cuda.CUDAGraph()
        self._stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self._stream):
            run()
            self._settle()
            # Other threads, such as NCCL's watchdog, go on calling CUDA meanwhile.
            graph.capture_begin(pool=self._pool, capture_error_mode="thread_local")
            try:
                run()
            finally:
                graph.capture_end()
        torch.cuda.current_stream().wait_stream(self._stream)
        return graph.replay
