"""What no cost model may fall below: FLOPs and bytes at the peak rates, counted without the code under test."""

from backends.cost_model import CostModel, StepColumns
from backends.simulated.gpu_sheet import GpuSheet
from backends.simulated.model_shard import ModelShard
from backends.simulated.model_sheet import ModelSheet
from tests.backends.step_shapes import Row, shape_of


def least_flops(model: ModelSheet, tp: int, rows: list[Row], num_sampled: int) -> float:
    """FLOPs that one of `tp` GPUs cannot do without."""
    tokens, pairs = sum(row.query for row in rows), sum(row.num_pairs for row in rows)
    heads = model.num_heads + 2 * model.num_kv_heads
    layer = (
        model.hidden_size * model.head_dim * (heads + model.num_heads) + 3 * model.hidden_size * model.intermediate_size
    )
    attention = 2 * 2 * model.num_layers * model.num_heads * model.head_dim * pairs
    return (
        2 * model.num_layers * layer * tokens + attention + 2 * model.hidden_size * model.vocab_size * num_sampled
    ) / tp


def least_bytes(model: ModelSheet, tp: int, context: float, tokens: int, num_sampled: int) -> float:
    """Bytes that one of `tp` GPUs cannot do without: weights, cached keys and values, and those it writes."""
    shard = ModelShard(model, tp)
    matrices = (shard.qkv, shard.output, shard.gate_up, shard.down)
    weights = model.num_layers * sum(matrix.num_weights for matrix in matrices)
    head = shard.head.num_weights * (num_sampled > 0)
    return (weights + head) * model.dtype_bytes + (context + tokens) * shard.kv_bytes_per_token


def assert_within_the_peaks(
    cost_model: CostModel,
    model: ModelSheet,
    gpu: GpuSheet,
    tp: int,
    rows: list[Row],
    num_sampled: int,
    graph_size: int | None = None,
) -> None:
    shape = shape_of(rows, num_sampled=num_sampled)
    found = cost_model.step_times(StepColumns.one_row(shape, graph_size))
    longer_s = found.device_s * (1 + 1e-12)  # a bound may be met exactly, but for rounding
    assert longer_s >= least_flops(model, tp, rows, num_sampled) / gpu.flops_per_s
    tokens, context = sum(row.query for row in rows), sum(row.context for row in rows)
    assert longer_s >= least_bytes(model, tp, context, tokens, num_sampled) / gpu.memory_bytes_per_s
    assert found.duration_s >= found.device_s
