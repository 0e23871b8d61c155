"""Keys of blocks whose tokens are known."""

from collections.abc import Sequence

from engine.block_key import ROOT_KEY, chain, token_bytes


class TokenKeys:
    """Each key is the hash of the key before and the tokens of the block; see `BlockKeys`."""

    __slots__ = ("_block_size", "_keys", "_output_ids", "_prompt_ids")

    def __init__(self, prompt_ids: Sequence[int], output_ids: Sequence[int], block_size: int) -> None:
        """Follow `output_ids` as they become more."""
        self._prompt_ids = prompt_ids
        self._output_ids = output_ids
        self._block_size = block_size
        self._keys: list[int] = []

    def __getitem__(self, index: int) -> int:
        """The key of a block that is full."""
        keys, size = self._keys, self._block_size
        if index >= len(keys):
            parent = keys[-1] if keys else ROOT_KEY
            for first in range(len(keys) * size, (index + 1) * size, size):
                parent = chain(parent, token_bytes(self._slice(first, first + size)))
                keys.append(parent)
        return keys[index]

    def _slice(self, first: int, stop: int) -> Sequence[int]:
        # position   0 ........ prompt | prompt ........ prompt + outputs
        #               first [========|====) stop        a block may lie across the border
        prompt = len(self._prompt_ids)
        if stop <= prompt:
            return self._prompt_ids[first:stop]
        if first >= prompt:
            return self._output_ids[first - prompt : stop - prompt]
        return (*self._prompt_ids[first:], *self._output_ids[: stop - prompt])
