"""Puts a rank's runner together."""

from collections.abc import Callable

import torch

from backends.graph_table import GraphTable
from backends.qwen3.attention import Attention, PagedAttention
from backends.qwen3.attention_choice import AttentionChoice, choose_attention
from backends.qwen3.backend_settings import BackendSettings
from backends.qwen3.graph_capture import Forward, capture_graphs, num_graphs
from backends.qwen3.input_buffers import InputBuffers
from backends.qwen3.kv_cache import KVCache
from backends.qwen3.loader import load_model, random_model
from backends.qwen3.model import Qwen3Model
from backends.qwen3.platform import Platform, platform_of
from backends.qwen3.ranks import Ranks
from backends.qwen3.runner import Runner
from backends.qwen3.sampling_rows import SamplingRows
from backends.qwen3.sequence_rows import SequenceRows
from backends.qwen3.step_graphs import StepGraphs
from backends.qwen3.table_widths import TableWidths
from backends.qwen3.warm_up import WarmUp

_GIB = 2**30


def build_runner(settings: BackendSettings, ranks: Ranks, check: Callable[[], None] | None = None) -> Runner:
    """Load, warm up, size the cache, capture. All ranks call this, since they exchange tensors meanwhile.

    Args:
        settings: what to run.
        ranks: this rank and the others.
        check: raises when another rank has ended; None = no need to ask.

    Raises:
        ModelError: the model, the settings or the device do not work together.
    """
    platform = platform_of(ranks.device, check)
    with platform.explain("The model", "use more ranks (tensor_parallel) or a smaller model"):
        model = _model(settings, ranks)
    choice = _choice(settings, ranks.device)
    attention = choice.attention
    table, widths = _table(settings, attention), _widths(settings, attention)
    kv_cache = _kv_cache(settings, ranks, platform, model, attention, num_graphs(table, widths))
    rows = SequenceRows(settings.max_num_seqs, settings.max_model_len, settings.block_size)
    runner = Runner(
        model=model,
        attention=attention,
        kv_cache=kv_cache,
        rows=rows,
        sampling=_sampling(settings) if ranks.group.rank == 0 else None,
        buffers=InputBuffers(rows, device=ranks.device, num_tokens=settings.max_num_batched_tokens, widths=widths),
        graphs=_graphs(
            settings, ranks, platform, table, widths, rows, lambda inputs: model(inputs, kv_cache, attention)
        ),
        timer=platform.timer(),
        max_rows=settings.max_num_seqs,
        notice=choice.reason,
    )
    ranks.group.minimum(1)  # nobody begins before all are ready: an error of set-up must end set-up
    return runner


def _model(settings: BackendSettings, ranks: Ranks) -> Qwen3Model:
    if settings.folder is None:
        return random_model(settings.config, ranks.group, device=ranks.device, seed=settings.seed)
    return load_model(settings.folder, ranks.group, device=ranks.device, dtype=settings.config.dtype)


def _choice(settings: BackendSettings, device: torch.device) -> AttentionChoice:
    config = settings.config
    return choose_attention(
        device=device,
        dtype=config.dtype,
        block_size=settings.block_size,
        head_dim=config.head_dim,
        override=settings.attention,
    )


def _table(settings: BackendSettings, attention: PagedAttention) -> GraphTable:
    return GraphTable(settings.graph_sizes, settings.mixed_graph_sizes if attention.can_capture_chunks else ())


def _widths(settings: BackendSettings, attention: PagedAttention) -> TableWidths:
    return TableWidths(settings.blocks_per_sequence, settings.block_size, is_split=attention.is_split_by_width)


def _kv_cache(
    settings: BackendSettings,
    ranks: Ranks,
    platform: Platform,
    model: Qwen3Model,
    attention: Attention,
    num_graphs: int,
) -> KVCache:
    """The cache, as large as asked for, or as what is left beside the largest step; that one runs on a single block."""
    config, num_ranks = settings.config, ranks.group.size
    block_bytes = config.kv_block_bytes(settings.block_size, num_ranks)

    def allocate(num_blocks: int) -> KVCache:
        return KVCache(
            config.num_hidden_layers,
            num_blocks,
            settings.block_size,
            config.num_kv_heads_on(num_ranks),
            config.head_dim,
            dtype=config.dtype,
            device=ranks.device,
        )

    one_block = allocate(1)
    warm_up = WarmUp(settings, ranks.device, lambda inputs: model(inputs, one_block, attention), model.logits)
    with platform.explain("The largest step", "lower max_num_batched_tokens or max_num_seqs"):
        platform.warm_up(warm_up)
    num_blocks = settings.num_blocks or platform.num_blocks(settings, num_graphs, block_bytes, ranks.group)
    size = f"A KV cache of {num_blocks} blocks ({num_blocks * block_bytes / _GIB:.1f} GiB)"
    with platform.explain(size, "lower num_blocks or memory_utilization"):
        return allocate(num_blocks)


def _sampling(settings: BackendSettings) -> SamplingRows:
    return SamplingRows(settings.max_num_seqs, settings.config.vocab_size, settings.seed)


def _graphs(
    settings: BackendSettings,
    ranks: Ranks,
    platform: Platform,
    table: GraphTable,
    widths: TableWidths,
    rows: SequenceRows,
    forward: Forward,
) -> StepGraphs | None:
    capture = platform.capture()
    if capture is None or not table.sizes:
        return None
    with platform.explain("The CUDA graphs", "lower num_blocks or memory_utilization, or capture fewer sizes"):
        return capture_graphs(settings, table, widths, rows, forward, capture, ranks.device)
