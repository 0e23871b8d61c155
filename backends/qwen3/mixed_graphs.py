"""Steps with chunks as captured CUDA graphs."""

from collections.abc import Callable, Sequence

import torch

from backends.qwen3.cuda_graphs import Capture
from backends.qwen3.forward_inputs import ForwardInputs
from backends.qwen3.mixed_buffers import MixedBuffers
from backends.qwen3.prepared_step import PreparedStep
from backends.qwen3.sampling_rows import SamplingRows
from backends.qwen3.step_command import StepCommand
from backends.qwen3.step_layout import StepLayout


class MixedGraphs:
    """Captured forward passes of steps with chunks, by padded number of tokens and width of the decode rows' tables.

    Attention is captured with the rest: its kernels find on the device how many rows and chunks there are, so a graph
    holds any step that has no more of either. The rows whose logits are wanted are picked behind the graph.

    Args:
        forward: the model up to the final hidden states [tokens, hidden_size].
        buffers: inputs at fixed addresses.
        hidden: [largest size, hidden_size]; receives the result of every graph.
        sizes: sizes to capture, each for all widths of the buffers.
        capture: how to capture.
    """

    def __init__(
        self,
        forward: Callable[[ForwardInputs], torch.Tensor],
        buffers: MixedBuffers,
        hidden: torch.Tensor,
        sizes: Sequence[int],
        capture: Capture,
    ) -> None:
        self._forward = forward
        self._buffers = buffers
        self._hidden = hidden
        keys = {(size, width) for size in sizes for width in buffers.widths.all}
        self._replays = {key: capture(self._run_of(*key)) for key in sorted(keys, reverse=True)}

    def prepare(
        self, command: StepCommand, layout: StepLayout, size: int, sampling: SamplingRows | None
    ) -> PreparedStep | None:
        """Send the inputs of a step to the device, for the narrowest graph of `size` tokens that holds its decode rows.

        Returns:
            The step. None if a context is too long for any graph.
        """
        widths = self._buffers.widths
        if max(layout.decode_width, layout.chunk_width) > widths.full:
            return None
        sampled = self._buffers.fill(command, layout, size, sampling)
        rows, key = self._buffers.logits_rows(layout), (size, widths.narrowest(layout.decode_width))

        def launch() -> torch.Tensor:
            self._replays[key]()  # looked up here: nothing but the dict may hold on to a graph, see `close`
            return self._hidden[rows]

        return PreparedStep(launch, sampled, layout.num_sampled, None, size)

    def close(self) -> None:
        """Let go of the graphs; see `DecodeGraphs.close`."""
        self._replays.clear()

    def _run_of(self, size: int, width: int) -> Callable[[], None]:
        inputs = self._buffers.forward_inputs(size, width)

        def run() -> None:
            self._hidden[:size].copy_(self._forward(inputs))

        return run
