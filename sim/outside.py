"""Which steps of a run lie outside what its cost model was fitted to."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.run import Run
from backends.cost_model import StepColumns
from backends.simulated.envelope import Envelope


def outside_of(envelope: Envelope, run: Run) -> dict[str, Any]:
    """For the summary of a run.

    Returns:
        `outside_share`, the share of steps with rows that lie outside; and `outside`, in what: for each size of a step
        (a column of `steps`, or a class of steps that was not measured) the share of steps, and the value that lies
        furthest outside beside the one measured.
    """
    steps = StepColumns.from_table(step_values(run, StepColumns._fields))
    is_filled = steps.num_prefill_seqs + steps.num_decode_seqs > 0
    num_steps, filled = int(is_filled.sum()), StepColumns(*(column[is_filled] for column in steps))
    is_outside = envelope.is_outside(filled)
    outside = [
        {"size": size, "share": count / num_steps, "furthest": furthest, "measured": limit}
        for size, count, furthest, limit in envelope.excesses(filled)
    ]
    return {"outside_share": float(is_outside.mean()) if num_steps else 0.0, "outside": outside}


def step_values(run: Run, names: tuple[str, ...]) -> dict[str, NDArray[np.float64]]:
    """Columns of the steps of a run; NaN for what is missing."""
    table = run.table("steps", names)
    return {name: np.array(table.column(name).to_pylist(), dtype=np.float64) for name in names}
