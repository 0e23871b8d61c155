"""Rotary position embedding: the table of angles."""

import torch


def rotary_table(head_dim: int, theta: float, num_positions: int, device: torch.device) -> torch.Tensor:
    """Cosines and sines of every position.

    Dimension i of a head turns together with dimension i + head_dim / 2, by position x theta^(-2i / head_dim).

    Returns:
        float32 [num_positions, head_dim]: head_dim / 2 cosines, then as many sines.
    """
    exponents = torch.arange(0, head_dim, 2, dtype=torch.float32) / head_dim
    frequencies = 1.0 / (theta**exponents)
    angles = torch.arange(num_positions, dtype=torch.float32)[:, None] * frequencies
    return torch.cat((angles.cos(), angles.sin()), dim=1).to(device)
