"""Captures all graphs of a rank."""

from collections.abc import Callable

import torch

from backends.graph_table import GraphTable
from backends.qwen3.backend_settings import BackendSettings
from backends.qwen3.cuda_graphs import Capture
from backends.qwen3.decode_buffers import DecodeBuffers
from backends.qwen3.decode_graphs import DecodeGraphs
from backends.qwen3.forward_inputs import ForwardInputs
from backends.qwen3.mixed_buffers import MixedBuffers
from backends.qwen3.mixed_graphs import MixedGraphs
from backends.qwen3.sequence_rows import SequenceRows
from backends.qwen3.step_graphs import StepGraphs
from backends.qwen3.table_widths import TableWidths

Forward = Callable[[ForwardInputs], torch.Tensor]


def capture_graphs(
    settings: BackendSettings,
    table: GraphTable,
    widths: TableWidths,
    rows: SequenceRows,
    forward: Forward,
    capture: Capture,
    device: torch.device,
) -> StepGraphs:
    """Capture largest first: what comes later fits into the memory of what came before.

    Args:
        settings: shapes and limits.
        table: sizes to capture, at least one of decode steps.
        widths: of the decode rows' block tables.
        rows: tokens and blocks of live sequences.
        forward: the model up to the final hidden states.
        capture: how to capture.
        device: of the model.
    """
    config = settings.config

    def hidden(num_rows: int) -> torch.Tensor:
        return torch.zeros((num_rows, config.hidden_size), dtype=config.dtype, device=device)

    mixed = None
    if table.mixed_sizes:
        max_tokens = table.mixed_sizes[-1]
        mixed_buffers = MixedBuffers(
            rows,
            max_tokens=max_tokens,
            max_decodes=table.max_decodes,
            max_rows=settings.max_num_seqs,
            widths=widths,
            device=device,
        )
        mixed = MixedGraphs(forward, mixed_buffers, hidden(max_tokens), table.mixed_sizes, capture)
    buffers = DecodeBuffers(rows, max_rows=table.max_decodes, widths=widths, device=device)
    decode = DecodeGraphs(forward, buffers, hidden(table.max_decodes), table.sizes, capture)
    return StepGraphs(table, rows, decode, mixed)


def num_graphs(table: GraphTable, widths: TableWidths) -> int:
    """How many graphs `capture_graphs` captures."""
    return (len(table.sizes) + len(table.mixed_sizes)) * len(widths.all)
