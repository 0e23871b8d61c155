"""Output tokens into text while they come."""

from collections.abc import Callable, Sequence

_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


class TextDecoder:
    """Gives out the text that is certain, and holds back what the next token may still change.

    Byte-level tokens may end within a character; decoded, its bytes so far are one replacement character at the end of
    the text. The pieces add up to the text of all tokens.

        tokens   [  context  ][ fresh ]        context: tokens whose text is out, kept because tokenizers may join
        text     [    out    ][ new ?]         words by what stood before

    Args:
        decode: text of a list of tokens.
    """

    def __init__(self, decode: Callable[[Sequence[int]], str]) -> None:
        self._decode = decode
        self._context: list[int] = []
        self._fresh: list[int] = []
        self._num_out = 0  # characters of context and fresh tokens that are out

    def add(self, token_id: int) -> str:
        """Text that this token completes; may be empty."""
        self._fresh.append(token_id)
        text = self._decode(self._context + self._fresh)
        is_open = text.endswith(_REPLACEMENT)
        piece = text[self._num_out : len(text) - is_open]
        if is_open:
            self._num_out += len(piece)
        else:
            self._context, self._fresh = self._fresh, []
            self._num_out = len(self._decode(self._context))
        return piece

    def finish(self) -> str:
        """Text held back so far."""
        text = self._decode(self._context + self._fresh)
        piece = text[self._num_out :]
        self._num_out = len(text)
        return piece
