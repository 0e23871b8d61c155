"""Sampling inputs made by hand, one row each."""

import torch

from backends.qwen3.sampling_inputs import SamplingInputs

ALL = 2**31 - 1  # a top-k that keeps everything


def rows(*settings):
    """Inputs of rows given as (temperature, top_k, top_p); key and position are the row's number."""
    temperatures, top_ks, top_ps = zip(*settings, strict=True)
    number = torch.arange(len(settings))
    return SamplingInputs(
        temperatures=torch.tensor(temperatures, dtype=torch.float32),
        top_ks=torch.tensor(top_ks, dtype=torch.int32),
        top_ps=torch.tensor(top_ps, dtype=torch.float32),
        keys=number,
        positions=number.clone(),
        has_filter=any(top_k != ALL or top_p < 1 for _, top_k, top_p in settings),
    )


def logits_of(*probabilities):
    """Logits of one row with these probabilities."""
    return torch.tensor([probabilities]).log()
