"""What the engine needs of a tokenizer."""

from collections.abc import Mapping, Sequence
from typing import Protocol


class IncrementalDecoder(Protocol):
    """Turns the output tokens of one request into text pieces as they come."""

    def add(self, token_id: int) -> str:
        """Text that this token completes; may be empty. A piece never ends within a character."""
        ...

    def finish(self) -> str:
        """Text held back so far."""
        ...


class Tokenizer(Protocol):
    """Text to tokens and back."""

    @property
    def end_token_ids(self) -> frozenset[int]:
        """All tokens that end an output."""
        ...

    def encode(self, text: str) -> list[int]:
        """Token ids of `text`."""
        ...

    def decode(self, token_ids: Sequence[int]) -> str:
        """Text of `token_ids`."""
        ...

    def decoder(self) -> IncrementalDecoder:
        """A new incremental decoder, for one request."""
        ...

    def chat(self, messages: Sequence[Mapping[str, str]]) -> str:
        """`messages` (role, content) laid out by the model's chat template, ready for the answer."""
        ...
