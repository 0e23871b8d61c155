"""FLOPs and bytes of a step on one GPU."""

from typing import Generic, NamedTuple

from backends.cost_model import StepColumns, Value, is_present, larger
from backends.simulated.model_shard import ModelShard, Projection

OPERATIONS = (
    "embedding",
    "qkv projection",
    "KV write",
    "prefill attention",
    "decode attention",
    "output projection",
    "gate and up projection",
    "down projection",
    "norms, rope, activation",
    "head",
    "sampler",
    "all-reduce",
)
# Two norms, rope, activation; two more where queries and keys are normalised.
_SMALL_KERNELS = 4
_QK_NORM_KERNELS = 2
# The head, then to float32, scale, softmax, noise, argmax; these move 6, 8, 8, 4 and 4 bytes of each logit.
_SAMPLING_KERNELS = 6.0
_SAMPLER_BYTES_PER_LOGIT = 30


class _MatrixCost(NamedTuple):
    """Cost of a matrix product: of the weights once, and of each row."""

    weight_bytes: float
    row_bytes: float
    row_flops: float

    @classmethod
    def of(cls, matrix: Projection, times: int, dtype_bytes: int) -> "_MatrixCost":
        weight_bytes = float(times * matrix.num_weights * dtype_bytes)
        row_bytes = float(times * (matrix.num_in + matrix.num_out) * dtype_bytes)
        return cls(weight_bytes, row_bytes, 2.0 * times * matrix.num_weights)

    def work(self, rows: Value) -> tuple[Value, Value]:
        return self.weight_bytes + rows * self.row_bytes, rows * self.row_flops


class Launches(NamedTuple, Generic[Value]):
    """What a step launches on one GPU.

    Attributes:
        kernels: all kernels but collectives.
        attention_calls: those that are attention: in each layer one for prefill rows and one for decode rows.
        collectives: all-reduces, and the gathering of the logits.
    """

    kernels: Value
    attention_calls: Value
    collectives: Value


class DeviceWork:
    """Counts what each operation of a step computes and moves on one GPU.

    Weights are read once a step, those of the head only if a row is sampled. Causal attention is counted exactly, and
    so are the cached tokens that prefill rows read. Padding rows of a graph cost what a row with a context of one token
    costs, but write no KV and are not sampled.

    Args:
        shard: the part of the model that the GPU holds.
    """

    def __init__(self, shard: ModelShard) -> None:
        model, layers, dtype_bytes = shard.model, shard.model.num_layers, shard.model.dtype_bytes
        self._layers = float(layers)
        self._qkv = _MatrixCost.of(shard.qkv, layers, dtype_bytes)
        self._output = _MatrixCost.of(shard.output, layers, dtype_bytes)
        self._gate_up = _MatrixCost.of(shard.gate_up, layers, dtype_bytes)
        self._down = _MatrixCost.of(shard.down, layers, dtype_bytes)
        self._head = _MatrixCost.of(shard.head, 1, dtype_bytes)
        self._embedding_bytes = 2.0 * model.hidden_size * dtype_bytes
        self._kv_bytes = float(shard.kv_bytes_per_token)
        self._query_bytes = 2.0 * layers * shard.query_width * dtype_bytes
        self._pair_flops = 4.0 * layers * shard.query_width
        self._small_bytes = float(_small_bytes(shard))
        self._small_kernels = float(layers * (_SMALL_KERNELS + _QK_NORM_KERNELS * model.has_qk_norm) + 1)
        # Embedding; KV write and four products a layer; attention and sampling depend on the step.
        self._fixed_kernels = 1.0 + 5.0 * layers + self._small_kernels
        self._sampler_bytes = float(_SAMPLER_BYTES_PER_LOGIT * model.vocab_size)
        # A ring moves each byte 2 (tp - 1) / tp times; an all-reduce follows the embedding and two products a layer.
        self._num_reduces = float((2 * layers + 1) * (shard.tp > 1))
        self._num_gathers = float(shard.tp > 1)
        self._reduce_bytes = self._num_reduces * model.hidden_size * dtype_bytes * 2 * (shard.tp - 1) / shard.tp
        self._gather_bytes = float((shard.tp - 1) * shard.vocab_size * dtype_bytes)

    def amounts(self, steps: StepColumns[Value]) -> tuple[tuple[Value, Value | float], ...]:
        """(bytes, FLOPs) of each of `OPERATIONS`; the bytes of the all-reduce go over the link."""
        num_tokens = steps.num_prefill_tokens + steps.num_decode_seqs
        rows = larger(num_tokens, steps.graph_size)
        sampled = steps.num_sampled
        head_weight_bytes = is_present(sampled) * self._head.weight_bytes
        return (
            (rows * self._embedding_bytes, 0.0),
            self._qkv.work(rows),
            (num_tokens * (2.0 * self._kv_bytes), 0.0),
            self.prefill_attention(steps),
            self.decode_attention(steps),
            self._output.work(rows),
            self._gate_up.work(rows),
            self._down.work(rows),
            (rows * self._small_bytes, 0.0),
            (head_weight_bytes + sampled * self._head.row_bytes, sampled * self._head.row_flops),
            (sampled * self._sampler_bytes, 0.0),
            (rows * self._reduce_bytes + sampled * self._gather_bytes, 0.0),
        )

    def prefill_attention(self, steps: StepColumns[Value]) -> tuple[Value, Value]:
        """(bytes, FLOPs) of this one of `OPERATIONS`; both are 0 without prefill rows."""
        num_tokens = steps.num_prefill_tokens
        pairs = steps.prefill_qk - (steps.prefill_qq - num_tokens) / 2.0
        return steps.prefill_context * self._kv_bytes + num_tokens * self._query_bytes, pairs * self._pair_flops

    def decode_attention(self, steps: StepColumns[Value]) -> tuple[Value, Value]:
        """(bytes, FLOPs) of this one of `OPERATIONS`, padding rows included."""
        num_tokens = steps.num_prefill_tokens + steps.num_decode_seqs
        padding = larger(num_tokens, steps.graph_size) - num_tokens
        rows, context = steps.num_decode_seqs + padding, steps.decode_context + padding
        return context * self._kv_bytes + rows * self._query_bytes, context * self._pair_flops

    def launches(self, steps: StepColumns[Value]) -> Launches[Value]:
        """How many kernels the step launches."""
        calls = (is_present(steps.num_prefill_seqs) + is_present(steps.num_decode_seqs)) * self._layers
        sampled = is_present(steps.num_sampled)
        return Launches(
            kernels=sampled * _SAMPLING_KERNELS + calls + self._fixed_kernels,
            attention_calls=calls,
            collectives=sampled * self._num_gathers + self._num_reduces,
        )

    def counts(self, steps: StepColumns[float]) -> tuple[float, ...]:
        """Kernels of each of `OPERATIONS`; without the all-reduce they add up to those of `launches`."""
        layers, sampled = self._layers, is_present(steps.num_sampled)
        prefill, decode = is_present(steps.num_prefill_seqs), is_present(steps.num_decode_seqs)
        before = (1.0, layers, layers, layers * prefill, layers * decode, layers, layers, layers)
        after = (self._small_kernels, sampled, sampled * (_SAMPLING_KERNELS - 1), self.launches(steps).collectives)
        return before + after


def _small_bytes(shard: ModelShard) -> int:
    """Bytes for each token of what is neither matrix product nor attention, in all layers and the final norm.

    A norm reads and writes the hidden state and the residual; rope, and the norm of queries and keys, read and write
    those; the activation reads gate and up and writes one of them.
    """
    model = shard.model
    norm = 4 * model.hidden_size
    rotated = 2 * (shard.query_width + shard.kv_width) * (1 + model.has_qk_norm)
    layer = 2 * norm + rotated + 3 * shard.intermediate_size
    return (model.num_layers * layer + norm) * model.dtype_bytes
