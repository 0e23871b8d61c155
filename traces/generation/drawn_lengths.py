"""Lengths that were drawn for a made trace."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np


class DrawnLengths(NamedTuple):
    """Lengths of one kind.

    Attributes:
        tokens: a length for each request, at least 1.
        notices: what was decided, one sentence each.
    """

    tokens: Sequence[int]
    notices: tuple[str, ...] = ()


class DrawnPairs(NamedTuple):
    """A prompt and an output length for each request.

    Attributes:
        inputs: of prompts, in tokens; in sessions, of what a turn adds.
        outputs: of outputs.
        notices: what was decided, one sentence each.
    """

    inputs: Sequence[int]
    outputs: Sequence[int]
    notices: tuple[str, ...] = ()


class LengthDistribution(Protocol):
    """Draws lengths of one kind."""

    def draw(self, num: int, noun: str, rng: np.random.Generator) -> DrawnLengths:
        """Return `num` lengths; `noun` says what they are lengths of, for notices."""


class PairDistribution(Protocol):
    """Draws prompt and output lengths."""

    def draw(self, num: int, input_rng: np.random.Generator, output_rng: np.random.Generator) -> DrawnPairs:
        """Return `num` pairs."""
