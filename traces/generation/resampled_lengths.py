"""Lengths drawn from those of a real trace."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from traces.errors import TraceError
from traces.generation.drawn_lengths import DrawnPairs


@dataclass(frozen=True, slots=True)
class ResampledLengths:
    """Draws requests of a trace, any of them any number of times: a prompt keeps the output that it had.

    Attributes:
        pairs: prompt and output length of each request of the trace.
        name: of the trace, for the notice.

    Raises:
        TraceError: there are none.
    """

    pairs: Sequence[tuple[int, int]]
    name: str

    def __post_init__(self) -> None:
        if not self.pairs:
            raise TraceError(f"{self.name} has no requests to take lengths from")

    def draw(self, num: int, input_rng: np.random.Generator, output_rng: np.random.Generator) -> DrawnPairs:
        """Return `num` pairs; `output_rng` is not needed."""
        drawn = [self.pairs[at] for at in input_rng.integers(0, len(self.pairs), num).tolist()]
        notice = f"Lengths are those of requests drawn from the {len(self.pairs):,} of {self.name}, with replacement."
        return DrawnPairs([pair[0] for pair in drawn], [pair[1] for pair in drawn], (notice,))
