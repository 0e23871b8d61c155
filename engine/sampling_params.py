"""How the tokens of one request are chosen, and when they end."""

import math
from collections.abc import Collection
from dataclasses import dataclass
from numbers import Integral, Real

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
        stop_token_ids: further token ids that end the request, in any collection; the token itself is kept in the
            output.

    Raises:
        SettingError: a value is outside its range, or of a kind that the field cannot have.
    """

    max_tokens: int = 16
    temperature: float = 1.0
    top_k: int | None = None
    top_p: float = 1.0
    seed: int | None = None
    ignore_eos: bool = False
    stop_token_ids: frozenset[int] = frozenset()

    def __post_init__(self) -> None:
        _check(_is_integer(self.max_tokens), "max_tokens", self.max_tokens, "a whole number")
        _check(self.top_k is None or _is_integer(self.top_k), "top_k", self.top_k, "a whole number or None")
        _check(self.seed is None or _is_integer(self.seed), "seed", self.seed, "a whole number or None")
        _check(_is_number(self.temperature), "temperature", self.temperature, "a number")
        _check(_is_number(self.top_p), "top_p", self.top_p, "a number")
        _check(isinstance(self.ignore_eos, bool), "ignore_eos", self.ignore_eos, "True or False")
        _check(_are_ids(self.stop_token_ids), "stop_token_ids", self.stop_token_ids, "a set of token ids")
        if not isinstance(self.stop_token_ids, frozenset):
            object.__setattr__(self, "stop_token_ids", frozenset(self.stop_token_ids))
        if self.max_tokens < 1:
            raise SettingError(f"max_tokens is {self.max_tokens}; a request must ask for at least 1 output token.")
        if not 0 <= self.temperature < math.inf:
            raise SettingError(f"temperature is {self.temperature}; it must be 0 (greedy) or a positive number.")
        if self.top_k is not None and self.top_k < 1:
            raise SettingError(f"top_k is {self.top_k}; it must be at least 1, or None to keep all tokens.")
        if not 0 < self.top_p <= 1:
            raise SettingError(f"top_p is {self.top_p}; it must be above 0 and at most 1.")


def _check(is_right: bool, name: str, value: object, kind: str) -> None:
    if not is_right:
        raise SettingError(f"{name} is {value!r}; it must be {kind}.")


def _is_integer(value: object) -> bool:
    """NumPy's integers included; True and False are none."""
    return isinstance(value, (int, Integral)) and not isinstance(value, bool)


def _is_number(value: object) -> bool:
    return isinstance(value, (float, int, Real)) and not isinstance(value, bool)


def _are_ids(value: object) -> bool:
    return isinstance(value, (frozenset, Collection)) and not isinstance(value, str) and all(map(_is_integer, value))
