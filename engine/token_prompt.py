"""A prompt whose tokens are known."""

from collections.abc import Sequence

from engine.block_key import ROOT_KEY, chain, token_bytes


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

    def extend_keys(self, keys: list[int], output_ids: Sequence[int], block_size: int, num_blocks: int) -> None:
        """Append keys until there are `num_blocks`; see `Prompt.extend_keys`."""
        parent = keys[-1] if keys else ROOT_KEY
        for first in range(len(keys) * block_size, num_blocks * block_size, block_size):
            parent = chain(parent, token_bytes(self._slice(first, first + block_size, output_ids)))
            keys.append(parent)

    def _slice(self, first: int, stop: int, output_ids: Sequence[int]) -> Sequence[int]:
        # position   0 ........ prompt | prompt ........ prompt + outputs
        #               first [========|====) stop        a block may lie across the border
        prompt = len(self.token_ids)
        if stop <= prompt:
            return self.token_ids[first:stop]
        if first >= prompt:
            return output_ids[first - prompt : stop - prompt]
        return (*self.token_ids[first:], *output_ids[: stop - prompt])
