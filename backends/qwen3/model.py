"""Dense Qwen3: from token ids to logits."""

from collections.abc import Iterator

import torch
from torch import nn

from backends.qwen3.attention import Attention
from backends.qwen3.config import Qwen3Config
from backends.qwen3.decoder_layer import DecoderLayer
from backends.qwen3.embedding import VocabMatrix
from backends.qwen3.forward_inputs import ForwardInputs
from backends.qwen3.group import Group
from backends.qwen3.kv_cache import KVCache
from backends.qwen3.ops import Ops, ops_for
from backends.qwen3.placement import Placement
from backends.qwen3.rms_norm import RMSNorm
from backends.qwen3.rotary import rotary_table


class Qwen3Model(nn.Module):
    """This rank's part of a dense Qwen3; weights are not set until they are loaded.

    Args:
        config: shapes and constants.
        group: ranks that share the model.
        device: where it runs.
        ops: fused operations; None = those of the device.
    """

    def __init__(self, config: Qwen3Config, group: Group, *, device: torch.device, ops: Ops | None = None) -> None:
        super().__init__()
        self.config = config
        self._ops = ops or ops_for(device)
        vocab_size, hidden_size, dtype = config.vocab_size, config.hidden_size, config.dtype
        self.embedding = VocabMatrix(vocab_size, hidden_size, group, dtype=dtype, device=device)
        self.layers = nn.ModuleList(
            DecoderLayer(config, group, self._ops, device) for _ in range(config.num_hidden_layers)
        )
        self.norm = RMSNorm(hidden_size, config.rms_norm_eps, dtype=dtype, device=device)
        self.head = (
            self.embedding
            if config.tie_word_embeddings
            else VocabMatrix(vocab_size, hidden_size, group, dtype=dtype, device=device)
        )
        self._rotary = rotary_table(config.head_dim, config.rope_theta, config.max_position_embeddings, device)

    @torch.inference_mode()
    def forward(self, inputs: ForwardInputs, kv_cache: KVCache, attention: Attention) -> torch.Tensor:
        """One pass over all rows of a step; stores their keys and values.

        Rows whose logits nobody wants leave the last layer after attention.

        Returns:
            Final hidden states [S, hidden_size] of `inputs.logits_rows`, ready for `logits`.
        """
        delta, residual = None, self.embedding.embed(inputs.token_ids)
        last = len(self.layers) - 1
        for index, layer in enumerate(self.layers):
            kept_rows = inputs.logits_rows if index == last else None
            keys, values = kv_cache.keys[index], kv_cache.values[index]
            delta, residual = layer(delta, residual, inputs, self._rotary, keys, values, attention, kept_rows)
        return self._ops.add_rms_norm(delta, residual, self.norm.weight, self.norm.eps)

    @torch.inference_mode()
    def logits(self, hidden: torch.Tensor) -> torch.Tensor:
        """Scores of each token of the vocabulary.

        Args:
            hidden: [S, hidden_size], from `forward`.

        Returns:
            [S, vocab_size] in the model's dtype, the same on each rank; columns that pad the vocabulary to the rank
            count are cut off, so the result may not be contiguous.
        """
        return self.head.logits(hidden)

    def placements(self) -> Iterator[Placement]:
        """Where each checkpoint tensor goes; together they fill every parameter once, but for vocabulary padding."""
        yield from self.embedding.placements("model.embed_tokens.weight")
        for index, layer in enumerate(self.layers):
            yield from layer.placements(f"model.layers.{index}")
        yield from self.norm.placements("model.norm")
        if self.head is not self.embedding:
            yield from self.head.placements("lm_head.weight")

    def assert_filled_by(self, placements: list[Placement]) -> None:
        """Assert that `placements` cover the parameters exactly."""
        matrices = {self.embedding, self.head}
        filled = sum(placement.target.numel() for placement in placements)
        padding = sum(matrix.num_padding for matrix in matrices)
        assert filled + padding == sum(parameter.numel() for parameter in self.parameters())
