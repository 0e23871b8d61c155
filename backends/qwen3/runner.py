"""Computes steps on one rank."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from backends.graph_table import GraphTable
from backends.qwen3.attention import Attention
from backends.qwen3.dirty_blocks import DirtyBlocks
from backends.qwen3.input_buffers import InputBuffers
from backends.qwen3.kv_cache import KVCache
from backends.qwen3.model import Qwen3Model
from backends.qwen3.prepared_step import PreparedStep
from backends.qwen3.sampler import Sampler
from backends.qwen3.sampling_inputs import SamplingInputs
from backends.qwen3.sampling_rows import SamplingRows
from backends.qwen3.sequence_rows import SequenceRows
from backends.qwen3.step_command import IntArray, StepCommand
from backends.qwen3.step_graphs import StepGraphs
from backends.qwen3.step_timer import StepTimer


@dataclass(frozen=True, slots=True)
class StepOutput:
    """What a step gave.

    Attributes:
        token_ids: int32 [sampling rows], in batch order; empty on a rank that does not sample.
        is_bad: bool [sampling rows], whether the row's logits are no numbers, so that its token means nothing.
        device_s: seconds that the device worked.
        graph_size: rows, or tokens of a step with chunks, of the graph that ran; None = eager.
    """

    token_ids: IntArray
    is_bad: NDArray[np.bool_]
    device_s: float
    graph_size: int | None


class Runner:
    """Keeps this rank's sequences and runs the model on them; all ranks get the same commands in the same order.

    Only rank 0 samples: a token is needed on the others not before the next step, and travels with its command, so
    that no two ranks can ever disagree on one.

    Args:
        model: this rank's part.
        attention: kernels.
        kv_cache: this rank's part.
        rows: sequences.
        sampling: how they are sampled; None on a rank that does not sample.
        buffers: inputs of eager steps.
        graphs: captured steps; None = none.
        timer: measures and waits.
        max_rows: most rows of a batch.
        notice: a sentence for the user about how it runs.

    Attributes:
        sampling: as given; who admits sequences fills it.
        notice: as given.
    """

    def __init__(
        self,
        *,
        model: Qwen3Model,
        attention: Attention,
        kv_cache: KVCache,
        rows: SequenceRows,
        sampling: SamplingRows | None,
        buffers: InputBuffers,
        graphs: StepGraphs | None,
        timer: StepTimer,
        max_rows: int,
        notice: str,
    ) -> None:
        self.notice = notice
        self._model = model
        self._attention = attention
        self._kv_cache = kv_cache
        self._rows = rows
        self.sampling = sampling
        self._buffers = buffers
        self._graphs = graphs
        self._timer = timer
        self._sampler = Sampler()
        self._dirty = DirtyBlocks(kv_cache)
        is_cuda = kv_cache.keys[0].is_cuda
        self._sampled = torch.zeros(2 * max_rows, dtype=torch.int32, pin_memory=is_cuda)
        self._launched: PreparedStep | None = None

    @property
    def graph_table(self) -> GraphTable:
        """What is captured."""
        return self._graphs.table if self._graphs else GraphTable(())

    @property
    def num_blocks(self) -> int:
        """Blocks of the KV cache."""
        return self._kv_cache.num_blocks

    def close(self) -> None:
        """Let go of what would keep the ranks from parting; nothing can be computed afterwards."""
        if self._graphs is not None:
            self._graphs.close()

    def step(self, command: StepCommand) -> StepOutput:
        """Compute one step; returns when its results are on the host."""
        self.launch(command)
        return self.collect()

    def launch(self, command: StepCommand) -> None:
        """Start to compute one step; whoever has something else to do may do it before `collect`."""
        self._apply(command)
        graphs = self._graphs
        prepared = graphs.prepare(command, self.sampling) if graphs else None
        prepared = prepared or self._prepare_eager(command)
        self._timer.start()
        self._sample(prepared.launch(), prepared.sampling)
        self._timer.stop()
        self._launched = prepared
        if graphs:
            graphs.foresee(command, self.sampling)

    def collect(self) -> StepOutput:
        """Wait for the step that was launched last."""
        prepared, self._launched = self._launched, None
        assert prepared is not None, "collect comes after launch"
        return self._output(prepared, self._timer.wait())

    def _apply(self, command: StepCommand) -> None:
        rows = self._rows
        rows.append_tokens(*command.new_tokens)
        for seat in command.failed:
            self._dirty.add(rows.blocks_of(seat))
        for seat in command.released:
            rows.release(seat)
        for sequence in command.admitted:
            rows.admit(sequence.seat, sequence.token_ids, sequence.block_table)
            self._dirty.clean(sequence.block_table[sequence.num_hit_blocks :])
        rows.append_blocks(*command.grown)
        self._dirty.clean(command.grown.block_ids)

    def _prepare_eager(self, command: StepCommand) -> PreparedStep:
        inputs, sampling = self._buffers.build(command, self.sampling)

        def launch() -> torch.Tensor:
            hidden: torch.Tensor = self._model(inputs, self._kv_cache, self._attention)
            return hidden

        return PreparedStep(launch, sampling, int(command.samples.sum()), None, None)

    def _sample(self, hidden: torch.Tensor, sampling: SamplingInputs | None) -> None:
        """Logits on all ranks, since they exchange them; samples where `sampling` is known, to `_sampled`."""
        logits = self._model.logits(hidden)
        if sampling is not None:
            columns = self._sampler(logits, sampling).columns
            self._sampled[: columns.numel()].view_as(columns).copy_(columns, non_blocking=True)

    def _output(self, step: PreparedStep, device_s: float) -> StepOutput:
        num_sampled = 0 if self.sampling is None else step.num_sampled
        columns = self._sampled[: 2 * num_sampled].numpy().reshape(2, num_sampled)
        picks = self.sampling is not None and step.picked is not None
        columns = columns[:, step.picked] if picks else columns.copy()
        return StepOutput(columns[0], columns[1] != 0, device_s, step.graph_size)
