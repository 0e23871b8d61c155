"""The time below which no step can be."""

from collections.abc import Callable
from functools import lru_cache

from backends.cost_model import StepColumns, Value, is_present, larger
from backends.simulated.gpu_sheet import GpuSheet
from backends.simulated.model_shard import ModelShard
from backends.simulated.shared_reads import shared_reads

_MAX_SIZES_KEPT = 16_384


class LeastTime:
    """What a step's FLOPs take at the compute peak, or its bytes at the memory peak, whichever is more.

    Counted is only what cannot be saved: the products of the rows that are there, attention under the causal mask, the
    weights once, and keys and values once when they are written and once when they are read, by however many rows.

    Args:
        shard: the part of the model that a GPU holds.
        gpu: its peaks.
    """

    def __init__(self, shard: ModelShard, gpu: GpuSheet) -> None:
        matrices = (shard.qkv, shard.output, shard.gate_up, shard.down)
        layers, dtype_bytes = shard.model.num_layers, shard.model.dtype_bytes
        self._weights = float(layers * sum(matrix.num_weights for matrix in matrices))
        self._head = float(shard.head.num_weights)
        self._pair_flops = 4.0 * layers * shard.query_width
        self._dtype_bytes = float(dtype_bytes)
        self._flops_per_s, self._bytes_per_s = gpu.flops_per_s, gpu.memory_bytes_per_s
        self._kv_s = shard.kv_bytes_per_token / self._bytes_per_s
        self._pair_s = self._pair_flops / self._flops_per_s
        self._kept: Callable[[float, float, float], tuple[float, float]] = lru_cache(_MAX_SIZES_KEPT)(self._products)

    def of(self, steps: StepColumns[Value]) -> Value:
        """Least device time, in seconds."""
        sizes = (steps.num_prefill_tokens, steps.num_decode_seqs, steps.num_sampled)
        products_s, weights_s = self._kept(*sizes) if isinstance(sizes[0], float) else self._products(*sizes)
        pairs = steps.prefill_qk - (steps.prefill_qq - steps.num_prefill_tokens) / 2.0 + steps.decode_context
        flops_s = products_s + pairs * self._pair_s
        contexts = steps.decode_context - shared_reads(steps) + steps.prefill_context
        return larger(weights_s + contexts * self._kv_s, flops_s)

    def _products(self, num_prefill_tokens: Value, num_decode_seqs: Value, num_sampled: Value) -> tuple[Value, Value]:
        """Seconds of the FLOPs of all products, and of the bytes of all weights and of new keys and values."""
        num_tokens = num_prefill_tokens + num_decode_seqs
        flops = num_tokens * (2.0 * self._weights) + num_sampled * (2.0 * self._head)
        num_bytes = (is_present(num_sampled) * self._head + self._weights) * self._dtype_bytes
        # Written; what is read are the contexts, in which a step's own tokens count.
        kv_s = num_tokens * self._kv_s
        return flops / self._flops_per_s, num_bytes / self._bytes_per_s + kv_s
