"""Limits that hold for every policy."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from engine.errors import SettingError


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Sizes that bound blocks, steps and sequences.

    Attributes:
        block_size: tokens in a KV block.
        max_num_batched_tokens: token budget of a step.
        max_num_seqs: most sequences; whether of the running set or of one batch is the policy's rule.
        max_model_len: length, prompt and outputs together, at which a sequence ends.

    Raises:
        SettingError: a limit is below 1.
    """

    block_size: int = 16
    max_num_batched_tokens: int = 8192
    max_num_seqs: int = 256
    max_model_len: int = 40960

    @classmethod
    def of(cls, values: Mapping[str, int]) -> Self:
        """Limits by name, defaults where a name is missing.

        Raises:
            SettingError: a name is unknown, or a limit is below 1.
        """
        unknown = sorted(set(values) - set(cls.__slots__))
        if unknown:
            raise SettingError(f"Unknown setting {', '.join(unknown)}; known: {', '.join(cls.__slots__)}.")
        return cls(**values)

    def __post_init__(self) -> None:
        for name in self.__slots__:
            if getattr(self, name) < 1:
                raise SettingError(f"{name} is {getattr(self, name)}; it must be at least 1.")
