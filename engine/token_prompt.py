"""A prompt whose tokens are known."""

from collections.abc import Sequence

from engine.token_keys import TokenKeys


class TokenPrompt:
    """A prompt given as token ids; what its blocks hold is told apart by the tokens themselves."""

    __slots__ = ("token_ids",)

    def __init__(self, token_ids: Sequence[int]) -> None:
        """Take a copy of `token_ids`, so that the caller's list may change afterwards."""
        self.token_ids: tuple[int, ...] = tuple(token_ids)

    @property
    def num_tokens(self) -> int:
        """Length of the prompt in tokens."""
        return len(self.token_ids)

    @property
    def segments(self) -> tuple[tuple[int, int], ...]:
        """Empty: the tokens are known."""
        return ()

    def block_keys(self, output_ids: Sequence[int], block_size: int) -> TokenKeys:
        """Keys of prompt and outputs; see `Prompt.block_keys`."""
        return TokenKeys(self.token_ids, output_ids, block_size)
