"""Decode steps as captured CUDA graphs."""

from collections.abc import Callable, Sequence

import torch

from backends.qwen3.cuda_graphs import Capture
from backends.qwen3.decode_buffers import DecodeBuffers
from backends.qwen3.forward_inputs import ForwardInputs
from backends.qwen3.prepared_step import PreparedStep
from backends.qwen3.sampling_rows import SamplingRows
from backends.qwen3.step_command import StepCommand


class DecodeGraphs:
    """Captured forward passes of decode steps, by padded number of rows and width of the block tables.

    The logits and the sampler are not captured: they are launched while the graph runs, and so cost the host no time
    that shows.

    Args:
        forward: the model up to the final hidden states [rows, hidden_size].
        buffers: inputs at fixed addresses.
        hidden: [largest size, hidden_size]; receives the result of every graph.
        sizes: sizes to capture, each for all widths of the buffers.
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
        keys = {(size, width) for size in sizes for width in buffers.widths.all}
        self._replays = {key: capture(self._run_of(*key)) for key in sorted(keys, reverse=True)}

    def prepare(self, command: StepCommand, size: int, sampling: SamplingRows | None) -> PreparedStep | None:
        """Send the inputs of a step to the device, for the narrowest graph of `size` rows that holds its contexts.

        Returns:
            The step; all its rows are sampled. None if a context is too long for any graph.
        """
        num_blocks, widths = self._buffers.width_of(command), self._buffers.widths
        if num_blocks > widths.full:
            return None
        self._buffers.fill(command, size, sampling)
        key, num_rows = (size, widths.narrowest(num_blocks)), command.num_rows

        def launch() -> torch.Tensor:
            self._replays[key]()  # looked up here: nothing but the dict may hold on to a graph, see `close`
            return self._hidden[:num_rows]

        picked = None if command.samples.all() else command.samples
        return PreparedStep(launch, self._buffers.sampling(), num_rows, picked, size)

    def foresee(self, command: StepCommand, size: int, sampling: SamplingRows | None) -> None:
        """Begin to prepare the step after `command`, the last one prepared; arguments as of `prepare`."""
        self._buffers.foresee(command, size, sampling)

    def forget(self) -> None:
        """A step runs elsewhere: what has been foreseen is not the next one."""
        self._buffers.forget()

    def close(self) -> None:
        """Let go of the graphs: NCCL ends no communicator, not even by an abort, while graphs hold its kernels."""
        self._replays.clear()

    def _run_of(self, size: int, width: int) -> Callable[[], None]:
        inputs = self._buffers.forward_inputs(size, width)

        def run() -> None:
            self._hidden[:size].copy_(self._forward(inputs))

        return run
