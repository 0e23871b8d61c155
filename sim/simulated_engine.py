"""A cost model in place of a GPU."""

from backends.graph_sizes import graph_sizes, mixed_graph_sizes
from backends.graph_table import GraphTable
from backends.simulated import (
    GpuSheet,
    ModelShard,
    ModelSheet,
    SimulatedBackend,
    check_utilization,
    load_gpu_sheet,
    load_model_sheet,
    num_kv_blocks,
)
from sim.cost_source import cost_source
from sim.parts import Engine
from sim.replay_settings import ReplaySettings
from sim.step_clock import PredictedClock


def make_simulated_engine(settings: ReplaySettings) -> Engine:
    """Model a model on a GPU, both by their sheets.

    Raises:
        SheetError: a model or GPU is not known.
        SimError: there is no such cost model, or it is one of another engine.
        SettingError: settings are out of range or do not fit each other.
    """
    assert settings.gpu is not None, "defaults are filled in by now"
    model, gpu = load_model_sheet(settings.model), load_gpu_sheet(settings.gpu)
    graphs = _graphs(settings, model)
    check_utilization(settings.memory_utilization)
    cost = cost_source(settings, model, gpu)
    backend = SimulatedBackend(
        cost.model,
        num_blocks=_num_blocks(settings, model, gpu) if settings.num_blocks is None else settings.num_blocks,
        graph_sizes=graphs.sizes,
        mixed_graph_sizes=graphs.mixed_sizes,
        vocab_size=model.vocab_size,
    )
    return Engine(
        backend=backend,
        step_clock=PredictedClock(),
        max_model_len=model.max_model_len,
        vocab_size=model.vocab_size,
        graph_sizes=graphs.sizes,
        mixed_graph_sizes=graphs.mixed_sizes,
        cost=cost,
        notices=cost.notices,
        # Recorded times are compared step by step; at wall pace every step ends at its own time.
        foreseeing=backend if cost.kind != "recorded" and settings.pace == "virtual" else None,
        hardware={"kind": "simulated", "model": model.name, "gpu": gpu.name, "num_gpus": settings.tp},
    )


def _graphs(settings: ReplaySettings, model: ModelSheet) -> GraphTable:
    """What a real engine of these limits captures."""
    # No more rows decode than there are tokens for, whatever else "no limit" on sequences is written as.
    max_tokens = settings.max_num_batched_tokens
    usual = (
        graph_sizes(min(settings.max_num_seqs, max_tokens)),
        mixed_graph_sizes(max_tokens, ModelShard(model, settings.tp).layer_weights),
    )
    chosen = (settings.graph_sizes, settings.mixed_graph_sizes)
    return GraphTable(*[mine if other is None else other for mine, other in zip(usual, chosen, strict=True)])


def _num_blocks(settings: ReplaySettings, model: ModelSheet, gpu: GpuSheet) -> int:
    assert settings.block_size is not None, "defaults are filled in by now"
    return num_kv_blocks(
        model,
        gpu,
        tp=settings.tp,
        block_size=settings.block_size,
        memory_utilization=settings.memory_utilization,
        max_num_batched_tokens=settings.max_num_batched_tokens,
        max_num_seqs=settings.max_num_seqs,
    )
