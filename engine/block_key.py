"""The key of a block: a 128-bit hash of every token from the start of the sequence to the end of the block."""

from array import array
from collections.abc import Sequence

from xxhash import xxh3_128_intdigest

ROOT_KEY = 0
"""Parent of a sequence's first block."""


def chain(parent: int, content: bytes) -> int:
    """Key of the prefix that `parent` stands for, followed by `content`. Equal in every process and on every host."""
    return xxh3_128_intdigest(parent.to_bytes(17, "little") + content)


def token_bytes(token_ids: Sequence[int]) -> bytes:
    """Tokens as the bytes that are hashed: 8 each, so that any id a tokenizer can give fits."""
    return array("q", token_ids).tobytes()
