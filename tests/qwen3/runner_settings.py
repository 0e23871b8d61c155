"""Settings of a tiny model with random weights."""

import torch

from backends.qwen3.backend_settings import BackendSettings
from backends.qwen3.config import Qwen3Config

CONFIG = Qwen3Config(
    vocab_size=97,
    hidden_size=40,
    intermediate_size=56,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    head_dim=16,
    max_position_embeddings=64,
    dtype=torch.float32,
)


def settings(**changes):
    """Settings of four rows, with `changes`."""
    values = {
        "config": CONFIG,
        "folder": None,
        "block_size": 4,
        "num_blocks": 20,
        "memory_utilization": 0.9,
        "max_num_seqs": 4,
        "max_num_batched_tokens": 64,
        "max_model_len": 64,
        "attention": None,
        "graph_sizes": (1, 2, 4),
        "mixed_graph_sizes": (16, 32),
        "seed": 0,
    }
    return BackendSettings(**values | changes)
