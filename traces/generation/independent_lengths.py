"""Prompt and output lengths that know nothing of each other."""

from dataclasses import dataclass

import numpy as np

from traces.generation.drawn_lengths import DrawnPairs, LengthDistribution


@dataclass(frozen=True, slots=True)
class IndependentLengths:
    """A distribution for each.

    Attributes:
        inputs: of prompts.
        outputs: of outputs.
    """

    inputs: LengthDistribution
    outputs: LengthDistribution

    def draw(self, num: int, input_rng: np.random.Generator, output_rng: np.random.Generator) -> DrawnPairs:
        """Return `num` pairs."""
        inputs = self.inputs.draw(num, "prompts", input_rng)
        outputs = self.outputs.draw(num, "outputs", output_rng)
        return DrawnPairs(inputs.tokens, outputs.tokens, (*inputs.notices, *outputs.notices))
