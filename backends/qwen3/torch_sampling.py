"""The sampler's two steps in plain torch: the reference, and the CPU's."""

import torch

from backends.qwen3.gumbel import gumbel
from backends.qwen3.sampling_inputs import SamplingInputs


def floors(logits: torch.Tensor, inputs: SamplingInputs) -> torch.Tensor:
    """Lowest logit that each row keeps: top-k first, then top-p among what top-k left.

    The nucleus is inclusive: the token that brings its probability to `top_p` is kept.

    Returns:
        float32 [S]; -inf where all are kept.
    """
    ordered = logits.float().sort(dim=-1, descending=True).values
    num_tokens = ordered.shape[-1]
    last = inputs.top_ks.long().clamp(max=num_tokens)[:, None] - 1
    top_k_floor = ordered.gather(-1, last)
    kept = ordered.masked_fill(ordered < top_k_floor, -torch.inf)
    # Greedy rows never divide by 0: their floor does not matter, since it lies below the largest logit.
    temperatures = torch.where(inputs.temperatures > 0, inputs.temperatures, 1.0)[:, None]
    reached = ((kept - kept[:, :1]) / temperatures).softmax(dim=-1).cumsum(dim=-1)
    inside = (reached < inputs.top_ps[:, None]).sum(dim=-1, keepdim=True).clamp(max=num_tokens - 1)
    top_p_floor = torch.where(inputs.top_ps[:, None] < 1, kept.gather(-1, inside), -torch.inf)
    top_k_floor = torch.where(last < num_tokens - 1, top_k_floor, -torch.inf)
    return torch.maximum(top_k_floor, top_p_floor)[:, 0]


def argmax(logits: torch.Tensor, inputs: SamplingInputs, floors: torch.Tensor | None) -> torch.Tensor:
    """Token with the largest noisy score of each row.

    Returns:
        int32 [2, S], see `Samples`.
    """
    scores = logits.float()
    is_nan = scores.isnan()
    drop = is_nan if floors is None else is_nan | (scores < floors[:, None])
    noise = gumbel(inputs.keys, inputs.positions, scores.shape[-1])
    noisy = (scores + inputs.temperatures[:, None] * noise).masked_fill(drop, -torch.inf)
    best = noisy.amax(dim=-1)
    token_ids = (noisy == best[:, None]).int().argmax(dim=-1)
    is_bad = is_nan.any(dim=-1) | ~best.isfinite()
    return torch.stack((token_ids.int(), is_bad.int()))
