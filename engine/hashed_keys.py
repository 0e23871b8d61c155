"""Keys of blocks of which only the identity of the prompt is known."""

from collections.abc import Callable, Sequence

from engine.block_key import chain, token_bytes


class HashedKeys:
    """Within the prompt, the prompt says the key of any prefix; from there on keys are chained. See `BlockKeys`.

    prompt    |-----|-----|-----|--.
    outputs                        '--|-----|-----|...
    key       | of the prompt's   | chained from the key of the whole prompt on
    """

    __slots__ = ("_block_size", "_following", "_num_prompt_tokens", "_num_within", "_output_ids", "_prefix_key")

    def __init__(
        self, prefix_key: Callable[[int], int], num_prompt_tokens: int, output_ids: Sequence[int], block_size: int
    ) -> None:
        """Follow `output_ids` as they become more; `prefix_key` gives the key of that many tokens of the prompt."""
        self._prefix_key = prefix_key
        self._num_prompt_tokens = num_prompt_tokens
        self._num_within = num_prompt_tokens // block_size
        self._output_ids = output_ids
        self._block_size = block_size
        self._following: list[int] = []

    def __getitem__(self, index: int) -> int:
        """The key of a block that is full."""
        if index < self._num_within:
            return self._prefix_key((index + 1) * self._block_size)
        index -= self._num_within
        while len(self._following) <= index:
            self._extend()
        return self._following[index]

    def _extend(self) -> None:
        size = self._block_size
        parent = self._following[-1] if self._following else self._prefix_key(self._num_prompt_tokens)
        # Counts from the end of the prompt; below 0 the block lies across it.
        first = (self._num_within + len(self._following)) * size - self._num_prompt_tokens
        self._following.append(chain(parent, token_bytes(self._output_ids[max(0, first) : first + size])))
