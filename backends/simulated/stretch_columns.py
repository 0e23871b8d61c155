"""The shapes of a stretch's steps, for a cost model."""

from typing import Any

import numpy as np

from backends.cost_model import FloatColumn, StepColumns
from engine.stretch import Stretch


def columns_of(stretch: Stretch, graph_size: int | None) -> StepColumns[FloatColumn]:
    """Shapes of all its steps, in which most is one number for all.

        step               0                       1                   2
        decode_context   sum of (position + 1)   + one for each row  + one for each row ...

    Args:
        stretch: decode steps of the same rows.
        graph_size: rows of the graph that each of them runs in; None if they run eager.
    """
    num_rows = float(len(stretch.request_ids))
    offsets = np.arange(1.0, stretch.max_steps + 1)
    released: Any = 0.0
    if stretch.released:
        released = np.zeros(stretch.max_steps)
        released[0] = len(stretch.released)
    rows: Any = num_rows
    none: Any = 0.0
    return StepColumns(
        num_prefill_tokens=none,
        num_prefill_seqs=none,
        prefill_qk=none,
        prefill_qq=none,
        max_query=none + 1.0,
        max_context=max(stretch.first_positions) + offsets,
        num_decode_seqs=rows,
        decode_context=sum(stretch.first_positions) + num_rows * offsets,
        num_sampled=rows,
        num_new_blocks=np.array(stretch.num_new_blocks, np.float64),
        num_admitted=none,
        num_released=released,
        graph_size=none + float(graph_size or 0),
    )
