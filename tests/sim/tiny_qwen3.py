"""A tiny Qwen3 that really runs, on the CPU, with random weights."""

import json
from pathlib import Path

CONFIG = {
    "architectures": ["Qwen3ForCausalLM"],
    "model_type": "qwen3",
    "vocab_size": 97,
    "hidden_size": 40,
    "intermediate_size": 56,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "max_position_embeddings": 640,
    "rms_norm_eps": 1e-6,
    "rope_theta": 10000.0,
    "torch_dtype": "float32",
    "hidden_act": "silu",
    "attention_bias": False,
    "tie_word_embeddings": False,
}


def tiny_engine(parent: Path) -> tuple[object, ...]:
    """Flags of a real engine; its model folder is made below `parent`."""
    # The folder's name is that of a sheet, so that the simulated backend knows the model of a run on it too.
    folder = parent / "Qwen3-0.6B"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(CONFIG))
    return ("--backend", "gpu", "--device", "cpu", "--model", folder, "--load-format", "dummy")
