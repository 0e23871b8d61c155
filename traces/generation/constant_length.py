"""Lengths that are all alike."""

from dataclasses import dataclass

import numpy as np

from traces.generation.checks import check_count
from traces.generation.drawn_lengths import DrawnLengths


@dataclass(frozen=True, slots=True)
class ConstantLength:
    """One length.

    Attributes:
        tokens: the length, at least 1.

    Raises:
        TraceError: it is not.
    """

    tokens: int

    def __post_init__(self) -> None:
        check_count("tokens", self.tokens)

    def draw(self, num: int, noun: str, rng: np.random.Generator) -> DrawnLengths:
        """Return `num` equal lengths; nothing is drawn."""
        return DrawnLengths([self.tokens] * num)
