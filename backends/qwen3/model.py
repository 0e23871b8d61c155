"""Dense Qwen3: from token ids to logits."""

import torch
from torch import nn

from backends.qwen3.attention import Attention
from backends.qwen3.config import Qwen3Config
from backends.qwen3.forward_inputs import ForwardInputs
from backends.qwen3.group import Group
from backends.qwen3.kv_cache import KVCache


class Qwen3Model(nn.Module):
    """This rank's part of a dense Qwen3.

    Args:
        config: shapes and constants.
        group: ranks that share the model.
        dtype: of weights and activations.
        device: where it runs.
    """

    def __init__(self, config: Qwen3Config, group: Group, *, dtype: torch.dtype, device: torch.device) -> None:
        super().__init__()
        self.config = config

    def forward(self, inputs: ForwardInputs, kv_cache: KVCache, attention: Attention) -> torch.Tensor:
        """One pass over all rows of a step.

        Returns:
            Final hidden states [S, hidden_size] of `inputs.logits_rows`, ready for `logits`.
        """
        raise NotImplementedError

    def logits(self, hidden: torch.Tensor) -> torch.Tensor:
        """Scores of each token of the vocabulary.

        Args:
            hidden: [S, hidden_size], from `forward`.

        Returns:
            [S, vocab_size] in the model's dtype, the same on each rank; columns that pad the vocabulary to the rank
            count are cut off, so the result may not be contiguous.
        """
        raise NotImplementedError
