"""Kinds of steps that differ in what sets their time."""

import numpy as np
from numpy.typing import NDArray

from backends.cost_model import FloatColumn, StepColumns

STEP_CLASSES = (
    "decode graph",
    "decode eager",
    "prefill graph",
    "prefill eager",
    "mixed graph",
    "mixed eager",
)


def step_classes(steps: StepColumns[FloatColumn]) -> NDArray[np.intp]:
    """Position of each step's class in `STEP_CLASSES`; rows of one token are decode rows, all others are chunks."""
    kind = np.where(steps.num_prefill_seqs == 0, 0, np.where(steps.num_decode_seqs == 0, 1, 2))
    classes: NDArray[np.intp] = (2 * kind + (steps.graph_size == 0)).astype(np.intp)
    return classes
