"""Bytes that a decode step must move at least."""

from backends.simulated import ModelSheet
from backends.simulated.model_shard import ModelShard


def decode_step_bytes(model: ModelSheet, contexts: list[int]) -> int:
    """Bytes read in one decode step on one GPU: all weights once, and the keys and values of every context.

    An untied embedding is left out but for one row a sequence, which counts as nothing; activations count as nothing.

    Args:
        model: its dimensions.
        contexts: tokens that each sequence attends to.
    """
    shard = ModelShard(model, 1)
    table = 0 if model.has_tied_embeddings else shard.head.num_weights * model.dtype_bytes
    return shard.weight_bytes - table + shard.kv_bytes_per_token * sum(contexts)
