"""Decode steps as captured CUDA graphs: one launch in place of hundreds."""

from collections.abc import Callable, Sequence
from typing import Protocol

import torch

from backends.graph_sizes import graph_for_rows
from backends.qwen3.decode_buffers import DecodeBuffers
from backends.qwen3.forward_inputs import ForwardInputs
from backends.qwen3.sampling_inputs import SamplingInputs
from backends.qwen3.sampling_rows import SamplingRows
from backends.qwen3.step_command import StepCommand


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


class DecodeGraphs:
    """Captured forward passes of decode steps, by padded number of rows.

    A step of rows of one token each runs in the smallest graph that holds its rows, if its longest sequence fits into
    the block table that was captured; any other step runs eager. The logits and the sampler are not captured: they are
    launched while the graph runs, and so cost the host no time that shows.

    Args:
        forward: the model up to the final hidden states [rows, hidden_size].
        buffers: inputs at fixed addresses.
        hidden: [largest size, hidden_size]; receives the result of every graph.
        sizes: sizes to capture; none = every step runs eager.
        capture: how to capture.
    """

    def __init__(
        self,
        forward: Callable[[ForwardInputs], torch.Tensor],
        buffers: DecodeBuffers,
        hidden: torch.Tensor,
        sizes: Sequence[int],
        capture: Capture,
    ) -> None:
        self._forward = forward
        self._buffers = buffers
        self._hidden = hidden
        self.sizes = tuple(sorted(set(sizes)))
        self._size_of_rows = graph_for_rows(sizes)
        self._replays = {size: capture(self._run_of(size)) for size in sorted(set(sizes), reverse=True)}

    def size_for(self, command: StepCommand) -> int | None:
        """The graph that a step runs in, by its size; None = eager."""
        if command.num_rows >= len(self._size_of_rows) or command.num_tokens.max() > 1:
            return None
        if self._buffers.width_of(command) > self._buffers.width:
            return None
        return self._size_of_rows[command.num_rows]

    def prepare(self, command: StepCommand, size: int, sampling: SamplingRows | None) -> SamplingInputs | None:
        """Send the inputs of a step to the device; returns the sampler's, None on a rank that does not sample."""
        self._buffers.fill(command, size, sampling)
        return self._buffers.sampling()

    def run(self, num_rows: int, size: int) -> torch.Tensor:
        """Launch the graph; returns the final hidden states [num_rows, hidden_size], valid until the next run."""
        self._replays[size]()
        return self._hidden[:num_rows]

    def close(self) -> None:
        """Let go of the graphs: NCCL ends no communicator, not even by an abort, while graphs hold its kernels."""
        self._replays.clear()

    def _run_of(self, size: int) -> Callable[[], None]:
        inputs = self._buffers.forward_inputs(size)

        def run() -> None:
            self._hidden[:size].copy_(self._forward(inputs))

        return run
