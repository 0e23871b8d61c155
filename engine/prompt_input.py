"""What a caller may give as prompts: texts, and lists of token ids."""

import reprlib
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from operator import index
from typing import SupportsIndex

from engine.errors import RequestError

_END = 2**63  # of the ids that a block key can hold


def check_list(values: object, what: str) -> None:
    """Check that something holds values in an order.

    Args:
        values: of a caller.
        what: they should be.

    Raises:
        RequestError: it does not.
    """
    if not isinstance(values, Collection) or isinstance(values, (Mapping, Set)):
        raise RequestError(f"{what} are {reprlib.repr(values)}; give a list of them.")


def check_text(text: str, name: str) -> None:
    """Check that a text can be written as UTF-8, which tokenizers work on.

    Raises:
        RequestError: it cannot.
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise RequestError(
            f"{name} holds {text[error.start]!r}, which is one half of a character; join the halves, or leave it out."
        ) from None


def token_ids_of(prompt: Sequence[int], name: str) -> list[int]:
    """Token ids as plain integers, NumPy's and torch's included.

    Raises:
        RequestError: there is something else among them, or an id that no vocabulary has.
    """
    token_ids = _integers(prompt)
    if token_ids is None:
        raise RequestError(
            f"{name} is {reprlib.repr(prompt)}; a prompt is a text or a list of token ids, and even a single list "
            f"of token ids stands in a list."
        )
    wrong = next((token_id for token_id in token_ids if not 0 <= token_id < _END), None)
    if wrong is not None:
        raise RequestError(f"{name} has token id {wrong}; token ids begin at 0 and lie below 2**63.")
    return token_ids


def _integers(values: Iterable[SupportsIndex]) -> list[int] | None:
    """Whole numbers in order; None if they are none, or bytes, which are a text that nobody has decoded."""
    if isinstance(values, (bytes, bytearray, memoryview, Mapping, Set)):
        return None
    try:
        numbers = list(values)
        return None if bool in set(map(type, numbers)) else list(map(index, numbers))
    except TypeError:
        return None
