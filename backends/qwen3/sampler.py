"""Which token comes next: one rule for greedy and random rows, in float32."""

from dataclasses import dataclass
from typing import Any

import torch

from backends.qwen3 import torch_sampling
from backends.qwen3.sampling_inputs import SamplingInputs


@dataclass(frozen=True, slots=True)
class Samples:
    """What was sampled, still on the device.

    Attributes:
        columns: int32 [2, S]: token ids, then 1 for each row whose scores are not numbers and 0 for the others. One
            tensor, so that one copy brings both to the host.
    """

    columns: torch.Tensor

    @property
    def token_ids(self) -> torch.Tensor:
        """int32 [S]; always inside the vocabulary, meaningless where `is_bad`."""
        return self.columns[0]

    @property
    def is_bad(self) -> torch.Tensor:
        """int32 [S], 1 where a score is NaN or none is finite."""
        return self.columns[1]


class Sampler:
    """Samples by the Gumbel-max rule: the token with the largest `logit + temperature * Gumbel noise`.

    Equal in law to a draw from softmax(logit / temperature), and at temperature 0 it is the plain argmax: greedy,
    random and padding rows go through one formula in which nothing is divided, so no row can make an infinity or a NaN
    for itself or for another. Of equal scores the lowest token id wins.

    A row with top-k or top-p first gets a floor: the lowest logit that it may keep. Tokens equal to the floor are all
    kept, so the result does not depend on the order of a sort. On a GPU both steps are Triton kernels.
    """

    def __call__(self, logits: torch.Tensor, inputs: SamplingInputs) -> Samples:
        """Sample a token for each row.

        Args:
            logits: [S, vocabulary size], any float type; rows may be strided.
            inputs: how to sample.
        """
        steps = self._steps_for(logits.device)
        floors = steps.floors(logits, inputs) if inputs.has_filter else None
        return Samples(steps.argmax(logits, inputs, floors))

    def _steps_for(self, device: torch.device) -> Any:  # noqa: ANN401 - a module
        if device.type != "cuda":
            return torch_sampling
        from backends.qwen3 import sampler_kernels  # Triton is not installed on every machine

        return sampler_kernels
