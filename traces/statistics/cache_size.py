"""The size of a prefix cache."""

from dataclasses import dataclass

from traces.errors import TraceError


@dataclass(frozen=True, slots=True)
class CacheSize:
    """A size as it was given.

    Attributes:
        num: how many.
        is_tokens: whether tokens are meant; else blocks of the trace.

    Raises:
        TraceError: it is not above 0.
    """

    num: int
    is_tokens: bool

    def __post_init__(self) -> None:
        if self.num < 1:
            unit = "tokens" if self.is_tokens else "blocks"
            raise TraceError(f"a cache has {self.num} {unit}, but it must have at least 1")

    def num_blocks(self, block_size: int) -> int:
        """Return how many whole blocks of `block_size` tokens it has room for."""
        return self.num // block_size if self.is_tokens else self.num
