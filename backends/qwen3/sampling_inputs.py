"""How the rows of one step are sampled."""

from dataclasses import dataclass

import torch


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplingInputs:
    """How to sample S rows; all tensors [S], on the device of the logits.

    Attributes:
        temperatures: float32; 0 = greedy.
        top_ks: int32; the vocabulary size or more keeps all tokens.
        top_ps: float32; 1 keeps all tokens.
        keys: int64, key of each row's random numbers.
        positions: int64, position of the token that is sampled.
        has_filter: whether any row keeps only some tokens; known on the host, so that the usual step skips that work.
    """

    temperatures: torch.Tensor
    top_ks: torch.Tensor
    top_ps: torch.Tensor
    keys: torch.Tensor
    positions: torch.Tensor
    has_filter: bool
