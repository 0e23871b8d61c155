"""A step whose inputs are on their way to the device."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from backends.qwen3.sampling_inputs import SamplingInputs


@dataclass(frozen=True, slots=True)
class PreparedStep:
    """What is left to do: launch the model, then sample.

    Attributes:
        launch: runs the model; returns the final hidden states of the rows whose logits are wanted.
        sampling: how these rows are sampled; None on a rank that does not sample, or if no row yields a token.
        num_sampled: rows that are sampled.
        picked: bool [num_sampled], those of them that yield a token; None = all.
        graph_size: rows or tokens of the graph that `launch` runs; None = eager.
    """

    launch: Callable[[], torch.Tensor]
    sampling: SamplingInputs | None
    num_sampled: int
    picked: NDArray[np.bool_] | None
    graph_size: int | None
