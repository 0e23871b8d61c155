"""How many KV blocks fit into a GPU's memory."""

from backends.simulated.gpu_sheet import GpuSheet
from backends.simulated.model_shard import ModelShard
from backends.simulated.model_sheet import ModelSheet
from engine.errors import SettingError

# A sampled row's logits: bf16 as the head makes them, and three float32 copies (logits, probabilities, noise).
_LOGIT_BYTES = 2 + 3 * 4


def num_kv_blocks(
    model: ModelSheet,
    gpu: GpuSheet,
    *,
    tp: int,
    block_size: int,
    memory_utilization: float,
    max_num_batched_tokens: int,
    max_num_seqs: int,
) -> int:
    """KV blocks that fit beside weights, activation peak and reserve into the share of memory that may be used.

    Args:
        model: the model.
        gpu: one of the GPUs; all are alike.
        tp: tensor-parallel degree.
        block_size: tokens in a block.
        memory_utilization: share of the GPU's memory that may be used, above 0 and at most 1.
        max_num_batched_tokens: tokens of the largest step, which sets the peak of a layer's activations.
        max_num_seqs: rows of the largest step, which set the peak of the sampler.

    Raises:
        SettingError: the share is out of range, the model cannot be split, or not even one block is left.
    """
    check_utilization(memory_utilization)
    shard = ModelShard(model, tp)
    allowed = int(gpu.memory_bytes * memory_utilization)
    peak = activation_bytes(shard, max_num_batched_tokens, max_num_seqs) + gpu.reserved_bytes
    num_blocks = (allowed - shard.weight_bytes - peak) // (block_size * shard.kv_bytes_per_token)
    if num_blocks < 1:
        raise SettingError(
            f"{model.name} leaves no memory for KV blocks on {tp} x {gpu.name}: {_gb(allowed)} may be used "
            f"({memory_utilization:g} of {_gb(gpu.memory_bytes)}), weights take {_gb(shard.weight_bytes)}, activations "
            f"and reserve {_gb(peak)}; use a larger --tp or --memory-utilization, or another GPU."
        )
    return num_blocks


def check_utilization(memory_utilization: float) -> None:
    """Raise SettingError unless the share of memory is above 0 and at most 1."""
    if not 0 < memory_utilization <= 1:
        raise SettingError(f"The memory utilisation is {memory_utilization}; it must be above 0 and at most 1.")


def activation_bytes(shard: ModelShard, max_num_batched_tokens: int, max_num_seqs: int) -> int:
    """Peak of temporary memory: the MLP of the largest step, or the sampler of the most rows."""
    model = shard.model
    layer = max_num_batched_tokens * model.dtype_bytes * (2 * model.hidden_size + 3 * shard.intermediate_size)
    sampler = max_num_seqs * model.vocab_size * _LOGIT_BYTES
    return max(layer, sampler)


def _gb(num_bytes: int) -> str:
    return f"{num_bytes / 1e9:.1f} GB"
