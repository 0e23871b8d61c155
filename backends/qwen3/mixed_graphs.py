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
    """Captured forward passes of steps with chunks, by padded number of tokens.

    Attention is captured with the rest: its kernels find on the device how many rows and chunks there are, so a graph
    holds any step that has no more of either. The rows whose logits are wanted are picked behind the graph.

    Args:
        forward: the model up to the final hidden states [tokens, hidden_size].
        buffers: inputs at fixed addresses.
        hidden: [largest size, hidden_size]; receives the result of every graph.
        sizes: sizes to capture.
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
        self._replays = {size: capture(self._run_of(size)) for size in sorted(set(sizes), reverse=True)}

    def prepare(
        self, command: StepCommand, layout: StepLayout, size: int, sampling: SamplingRows | None
    ) -> PreparedStep | None:
        """Send the inputs of a step for the graph `size` to the device; None if a block table is too wide for it."""
        if max(layout.decode_width, layout.chunk_width) > self._buffers.width:
            return None
        sampled = self._buffers.fill(command, layout, size, sampling)
        rows = self._buffers.logits_rows(layout)

        def launch() -> torch.Tensor:
            self._replays[size]()  # looked up here: nothing but the dict may hold on to a graph, see `close`
            return self._hidden[rows]

        return PreparedStep(launch, sampled, layout.num_sampled, None, size)

    def close(self) -> None:
        """Let go of the graphs; see `DecodeGraphs.close`."""
        self._replays.clear()

    def _run_of(self, size: int) -> Callable[[], None]:
        inputs = self._buffers.forward_inputs(size)

        def run() -> None:
            self._hidden[:size].copy_(self._forward(inputs))

        return run
