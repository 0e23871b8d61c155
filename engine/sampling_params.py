"""How the tokens of one request are chosen, and when they end."""

import math
from dataclasses import dataclass

from engine.errors import SettingError


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplingParams:
    """Sampling and stop conditions of one request, with the field names and defaults that vLLM users know.

    Attributes:
        max_tokens: most output tokens; at least 1.
        temperature: 0 is greedy; otherwise logits are divided by it.
        top_k: keep only the k most likely tokens; None keeps all.
        top_p: keep the smallest set of tokens whose probability reaches p (inclusive); 0 < p <= 1.
        seed: makes this request's samples repeatable whatever else is in its batch; None draws from the backend's seed.
        ignore_eos: do not end at the model's end tokens.
        stop_token_ids: further token ids that end the request; the token itself is kept in the output.

    Raises:
        SettingError: a value is outside its range.
    """

    max_tokens: int = 16
    temperature: float = 1.0
    top_k: int | None = None
    top_p: float = 1.0
    seed: int | None = None
    ignore_eos: bool = False
    stop_token_ids: frozenset[int] = frozenset()

    def __post_init__(self) -> None:
        if self.max_tokens < 1:
            raise SettingError(f"max_tokens is {self.max_tokens}; a request must ask for at least 1 output token.")
        if not (math.isfinite(self.temperature) and self.temperature >= 0):
            raise SettingError(f"temperature is {self.temperature}; it must be 0 (greedy) or a positive number.")
        if self.top_k is not None and self.top_k < 1:
            raise SettingError(f"top_k is {self.top_k}; it must be at least 1, or None to keep all tokens.")
        if not 0 < self.top_p <= 1:
            raise SettingError(f"top_p is {self.top_p}; it must be above 0 and at most 1.")
