"""Random Qwen3 checkpoints, written by transformers, and transformers' own model of them."""

import os
import shutil
from pathlib import Path
from typing import Any

import torch

from backends.qwen3.config import Qwen3Config


def save_random(folder: Path, config: Qwen3Config, device: str) -> Path:
    """Write a checkpoint unless it is there; returns the folder.

    Weights are large enough that logits are far from uniform and small enough that the stream stays finite.
    """
    if (folder / "config.json").exists():
        return folder
    transformers = _transformers()
    torch.manual_seed(3)
    hf_config = transformers.Qwen3Config(
        vocab_size=config.vocab_size,
        hidden_size=config.hidden_size,
        intermediate_size=config.intermediate_size,
        num_hidden_layers=config.num_hidden_layers,
        num_attention_heads=config.num_attention_heads,
        num_key_value_heads=config.num_key_value_heads,
        head_dim=config.head_dim,
        max_position_embeddings=config.max_position_embeddings,
        tie_word_embeddings=config.tie_word_embeddings,
        rope_parameters={"rope_type": "default", "rope_theta": config.rope_theta},
        initializer_range=config.hidden_size**-0.5,
    )
    with torch.device(device):
        model = transformers.Qwen3ForCausalLM(hf_config)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if name.endswith("norm.weight"):
                weight.uniform_(0.5, 1.5)
    unfinished = folder.with_name(f"{folder.name}-{os.getpid()}")
    model.to(config.dtype).save_pretrained(unfinished)
    try:
        unfinished.rename(folder)
    except OSError:  # another group was quicker, with the same weights
        shutil.rmtree(unfinished)
    return folder


class Reference:
    """transformers' Qwen3 of a folder, with its plainest attention.

    Args:
        folder: a checkpoint.
        device: where it runs.
        dtype: that it computes in.
    """

    def __init__(self, folder: Path, device: str, dtype: torch.dtype) -> None:
        load = _transformers().Qwen3ForCausalLM.from_pretrained
        self._model: Any = load(folder, dtype=dtype, attn_implementation="eager").to(device).eval()

    @torch.no_grad()
    def logits(self, token_ids: list[int], first: int = 0) -> torch.Tensor:
        """float32 [T - first, vocabulary] of tokens `first` to the last, each computed with all before it."""
        ids = torch.tensor([token_ids], device=self._model.device)
        logits: torch.Tensor = self._model(ids, logits_to_keep=len(token_ids) - first).logits[0].float()
        return logits


def _transformers() -> Any:  # noqa: ANN401 - a module that does not say its types
    """The module, without its progress bars; it takes seconds to import."""
    import transformers

    module: Any = transformers
    module.utils.logging.disable_progress_bar()
    return module
