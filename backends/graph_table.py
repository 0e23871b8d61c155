"""Which captured graph a step runs in: one rule for the backend that captures and the one that predicts."""

from collections.abc import Iterable

from backends.graph_sizes import ascending_sizes, smallest_size
from engine.step_shape import StepShape

MAX_CHUNKS = 16
"""Most chunks of a captured step; a graph starts the programs of so many, and those without work end at once."""


class GraphTable:
    """Turns what a step computes into the graph that holds it, by the size to which it is padded.

    A step of decode rows alone is padded to a number of rows. A step with chunks is padded to a number of tokens, if it
    has no more than `MAX_CHUNKS` chunks, and no more decode rows than the largest decode graph. Others run eager.

    Args:
        sizes: rows of captured decode steps, in any order; none = every step runs eager.
        mixed_sizes: tokens of captured steps with chunks.

    Raises:
        SettingError: a size is below 1.

    Attributes:
        sizes: of decode steps, ascending.
        mixed_sizes: of steps with chunks, ascending; none if there are no decode sizes.
    """

    def __init__(self, sizes: Iterable[int], mixed_sizes: Iterable[int] = ()) -> None:
        self.sizes = ascending_sizes(sizes)
        self.mixed_sizes = ascending_sizes(mixed_sizes) if self.sizes else ()

    @property
    def max_decodes(self) -> int:
        """Most decode rows of a captured step."""
        return self.sizes[-1] if self.sizes else 0

    def size_for(self, shape: StepShape) -> int | None:
        """Rows or tokens that the step is padded to; None = it runs eager."""
        return self.size_of(shape.num_decode_seqs, shape.num_prefill_seqs, shape.num_prefill_tokens)

    def size_of(self, num_decodes: int, num_chunks: int, num_chunk_tokens: int) -> int | None:
        """See `size_for`; a chunk is a row of two tokens or more."""
        if num_decodes > self.max_decodes or num_chunks > MAX_CHUNKS:
            return None
        if not num_chunks:
            return smallest_size(self.sizes, num_decodes)
        return smallest_size(self.mixed_sizes, num_decodes + num_chunk_tokens)
