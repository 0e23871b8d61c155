"""Limits that hold for every policy."""

from dataclasses import dataclass

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

    def __post_init__(self) -> None:
        for name in self.__slots__:
            if getattr(self, name) < 1:
                raise SettingError(f"{name} is {getattr(self, name)}; it must be at least 1.")
