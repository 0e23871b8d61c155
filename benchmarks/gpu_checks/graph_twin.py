"""One model on one cache, with graphs, without, and in float32."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch

from backends.graph_table import GraphTable
from backends.qwen3.attention import Attention, PagedAttention
from backends.qwen3.attention_torch import TorchKernels
from backends.qwen3.backend_settings import BackendSettings
from backends.qwen3.forward_inputs import ForwardInputs
from backends.qwen3.graph_capture import capture_graphs
from backends.qwen3.group import SingleRank
from backends.qwen3.input_buffers import InputBuffers
from backends.qwen3.kv_cache import KVCache
from backends.qwen3.loader import random_model
from backends.qwen3.model import Qwen3Model
from backends.qwen3.named_config import named_config
from backends.qwen3.step_command import StepCommand
from backends.qwen3.table_widths import TableWidths
from benchmarks.gpu_checks.attention_cases import attention_of
from benchmarks.gpu_checks.attention_kind import AttentionKind
from benchmarks.gpu_checks.capture import capture_for
from benchmarks.gpu_checks.setup import Setup
from benchmarks.gpu_checks.step_rows import Row
from benchmarks.gpu_checks.stepper import Stepper

_NUM_SPARE_BLOCKS = 3


class GraphTwin:
    """Final hidden states of a step, computed in several ways from the same cache of random numbers.

    Args:
        setup: where it runs.
        kind: attention.
        table: what to capture.
        lengths: tokens of the sequence in each seat.

    Attributes:
        full_width: blocks of the widest captured block tables, a few more than any sequence has.
    """

    def __init__(self, setup: Setup, kind: AttentionKind, table: GraphTable, lengths: Sequence[int]) -> None:
        self._device = torch.device(setup.device)
        config = named_config(setup.model)
        self._model = random_model(config, SingleRank(), device=self._device)
        attention = attention_of(setup, kind)
        sequences = [[(7 * i + seat) % config.vocab_size for i in range(end)] for seat, end in enumerate(lengths)]
        self._stepper = Stepper(
            self._model,
            attention,
            sequences,
            block_size=kind.block_size,
            device=self._device,
            num_spare_blocks=_NUM_SPARE_BLOCKS,
        )
        self._cache, rows = self._stepper.kv_cache, self._stepper.steps.rows
        for tensor in (*self._cache.keys, *self._cache.values):
            tensor.normal_(std=2)  # so that attention picks few tokens, and a wrong block shows
            tensor[self._stepper.steps.free_blocks[1:]] = torch.nan
        self.full_width = rows.block_tables.shape[1]
        self._widths = _widths(setup, kind, attention, self.full_width)
        self._inputs: list[ForwardInputs] = []

        def forward(inputs: ForwardInputs) -> torch.Tensor:
            self._inputs.append(inputs)
            hidden: torch.Tensor = self._model(inputs, self._cache, attention)
            return hidden

        self._forward = forward
        settings = _settings(setup, kind, table, len(lengths), self.full_width)
        capture = capture_for(is_cuda=setup.is_cuda)
        self._graphs = capture_graphs(settings, table, self._widths, rows, forward, capture, self._device)
        self._captured_inputs = {_key(inputs): inputs for inputs in self._inputs}

    def captured(self, rows: Sequence[Row]) -> tuple[torch.Tensor, int]:
        """[rows, hidden_size] in the graph that the step gets, and its size."""
        command = self._command(rows)
        prepared = self._graphs.prepare(command, None)
        assert prepared is not None, f"{len(rows)} rows have no graph"
        assert prepared.graph_size is not None
        return prepared.launch().clone(), prepared.graph_size

    def on_the_same_inputs(self, rows: Sequence[Row], size: int) -> torch.Tensor:
        """What the graph of the last step computed, launched kernel by kernel on the very same padded inputs."""
        eager = self.eager_inputs(rows)
        width, has_chunks = self._widths.narrowest(eager.decode_block_tables.shape[1]), eager.num_chunks > 0
        hidden = self._forward(self._captured_inputs[size, width, has_chunks])
        picked = hidden[eager.logits_rows] if has_chunks else hidden[: len(rows)]
        return picked.clone()

    def eager(self, inputs: ForwardInputs) -> torch.Tensor:
        """[rows, hidden_size] without a graph."""
        return self._forward(inputs).clone()

    def eager_inputs(self, rows: Sequence[Row]) -> ForwardInputs:
        """As a step without a graph gets them."""
        steps = self._stepper.steps
        buffers = InputBuffers(steps.rows, device=self._device, num_tokens=64, widths=self._widths)
        return buffers.build(self._command(rows), None)[0]

    def exact(self, inputs: ForwardInputs) -> torch.Tensor:
        """In float32 from the same weights and the same cache, by plain torch."""
        model = self._model
        config = replace(model.config, dtype=torch.float32)
        exact = Qwen3Model(config, SingleRank(), device=self._device)
        with torch.no_grad():
            for mine, theirs in zip(exact.parameters(), model.parameters(), strict=True):
                mine.copy_(theirs)
        cache = _float_copy(self._cache, config.head_dim)
        hidden: torch.Tensor = exact(inputs, cache, PagedAttention(TorchKernels()))
        return hidden

    def _command(self, rows: Sequence[Row]) -> StepCommand:
        return replace(self._stepper.steps.command(rows), samples=np.ones(len(rows), dtype=np.bool_))


def _widths(setup: Setup, kind: AttentionKind, attention: Attention, full: int) -> TableWidths:
    """As the backend has them; on a CPU several as well, though nothing is split there, and narrow: contexts are short.

    None of the narrow ones is the width of a sequence, so eager and captured tables are padded.
    """
    if not setup.is_cuda:
        return TableWidths(full, kind.block_size, is_split=True, limits=(24, 70))
    is_split = getattr(attention, "is_split_by_width", False)
    return TableWidths(full, kind.block_size, is_split=is_split)


def _key(inputs: ForwardInputs) -> tuple[int, int, bool]:
    """Size of a captured step, width of the tables of its decode rows, and whether it has chunks."""
    return inputs.num_tokens, inputs.decode_block_tables.shape[1], inputs.is_split_on_device


def _float_copy(cache: KVCache, head_dim: int) -> KVCache:
    num_blocks, block_size, num_kv_heads, _ = cache.keys[0].shape
    copy = KVCache(
        len(cache.keys),
        num_blocks,
        block_size,
        num_kv_heads,
        head_dim,
        dtype=torch.float32,
        device=cache.keys[0].device,
    )
    for mine, theirs in zip((*copy.keys, *copy.values), (*cache.keys, *cache.values), strict=True):
        mine.copy_(theirs)
    return copy


def _settings(setup: Setup, kind: AttentionKind, table: GraphTable, num_seqs: int, width: int) -> BackendSettings:
    return BackendSettings(
        config=named_config(setup.model),
        folder=None,
        block_size=kind.block_size,
        num_blocks=None,
        memory_utilization=0.9,
        max_num_seqs=max(num_seqs, table.max_decodes),
        max_num_batched_tokens=8192,
        max_model_len=min(width * kind.block_size, named_config(setup.model).max_position_embeddings),
        attention=None,
        graph_sizes=table.sizes,
        mixed_graph_sizes=table.mixed_sizes,
        seed=0,
    )
