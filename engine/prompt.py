"""What a prompt must tell the engine: its length, and an identity for every prefix of it."""

from collections.abc import Sequence
from typing import Protocol

from engine.block_keys import BlockKeys


class Prompt(Protocol):
    """Content of a prompt.

    Two prompts share a prefix in the KV cache exactly when their block keys say so. `TokenPrompt` knows its tokens,
    `HashedPrompt` only the identity of its content, as published traces do.
    """

    @property
    def num_tokens(self) -> int:
        """Length of the prompt in tokens."""
        ...

    @property
    def token_ids(self) -> Sequence[int] | None:
        """The tokens, or None where only the identity of the content is known (see `segments`)."""
        ...

    @property
    def segments(self) -> Sequence[tuple[int, int]]:
        """Content as (64-bit content id, number of tokens) runs that add up to `num_tokens`; empty if tokens are known.

        Equal (id, position) means equal token, so a backend that needs tokens can derive them from these.
        """
        ...

    def block_keys(self, output_ids: Sequence[int], block_size: int) -> BlockKeys:
        """Keys of the full blocks of prompt and outputs.

        Args:
            output_ids: the tokens that follow the prompt; more may be appended later.
            block_size: tokens in a block.
        """
        ...
