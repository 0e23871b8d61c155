"""A prompt of which only the identity of its content is known, as published traces give it."""

from collections.abc import Sequence

from engine.block_key import ROOT_KEY, chain
from engine.hashed_keys import HashedKeys


class HashedPrompt:
    """A prompt cut into content blocks with ids; equal leading ids mean equal leading tokens.

    The content's block size is the trace's (512 in Mooncake's) and need not fit the engine's in any way:

        content   |---- id 7 ----|---- id 9 ----|- unique -|
        engine    |-----|-----|-----|-----|-----|-----|---.      a key may end anywhere inside a content block

    A key is therefore (chained hash of the ids up to and including the content block in which the engine's block ends)
    plus (tokens of that content block that it covers), which any prefix has without those before it.
    """

    __slots__ = ("_bases", "_content_block_size", "_content_ids", "_num_tokens", "_unique_id")

    def __init__(self, num_tokens: int, content_ids: Sequence[int], content_block_size: int, unique_id: int) -> None:
        """Describe the content.

        Args:
            num_tokens: length of the prompt.
            content_ids: an id for each content block from the start; ids up to 64 bits, signed or not.
            content_block_size: tokens of a content block; the last one may be cut short by the prompt's end.
            unique_id: stands for the tokens that no id covers; give each request its own.
        """
        self._num_tokens = num_tokens
        self._content_ids = tuple(content_ids)
        self._content_block_size = content_block_size
        self._unique_id = unique_id
        self._bases: list[int] = []

    @property
    def num_tokens(self) -> int:
        """Length of the prompt in tokens."""
        return self._num_tokens

    @property
    def token_ids(self) -> None:
        """None: the tokens are not known."""
        return

    @property
    def segments(self) -> tuple[tuple[int, int], ...]:
        """The content as (content id, number of tokens) runs."""
        size, left = self._content_block_size, self._num_tokens
        runs = []
        for content_id in self._content_ids:
            if left <= 0:
                break
            runs.append((content_id, min(size, left)))
            left -= size
        return (*runs, (self._unique_id, left)) if left > 0 else tuple(runs)

    def block_keys(self, output_ids: Sequence[int], block_size: int) -> HashedKeys:
        """Keys of prompt and outputs; see `Prompt.block_keys`."""
        return HashedKeys(self._prefix_key, self._num_tokens, output_ids, block_size)

    def _prefix_key(self, num_tokens: int) -> int:
        index = self._content_index(num_tokens)
        return self._base(index) + num_tokens - index * self._content_block_size

    def _content_index(self, num_tokens: int) -> int:
        """Index of the content block that holds the last of the first `num_tokens` tokens."""
        return min((num_tokens - 1) // self._content_block_size, len(self._content_ids))

    def _base(self, index: int) -> int:
        bases = self._bases
        while len(bases) <= index:
            parent = bases[-1] if bases else ROOT_KEY
            known = len(bases) < len(self._content_ids)
            content = (self._content_ids[len(bases)] if known else self._unique_id).to_bytes(9, "little", signed=True)
            bases.append(chain(parent, (b"id" if known else b"unique") + content))
        return bases[index]
