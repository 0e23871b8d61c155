"""The shapes of a stretch's steps, for a cost model."""

from operator import mul

import numpy as np

from backends.cost_model import FloatColumn, StepColumns, constant_column
from engine.stretch import Stretch


def columns_of(stretch: Stretch, graph_size: int | None) -> StepColumns[FloatColumn]:
    """Shapes of all its steps, which are alike in most.

        step                0                         1                   2
        decode_context      sum of (position + 1)     + one for each row  + one for each row ...
        decode_context_sq   sum of (position + 1)^2   + 2 x decode_context before + one for each row ...

    Args:
        stretch: decode steps of the same rows.
        graph_size: rows of the graph that each of them runs in; None if they run eager.
    """
    num_steps, num_rows = stretch.max_steps, float(len(stretch.request_ids))
    offsets = np.arange(1.0, num_steps + 1)
    none, rows = constant_column(0.0, num_steps), constant_column(num_rows, num_steps)
    released = none
    if stretch.released:
        released = np.zeros(num_steps)
        released[0] = len(stretch.released)
    firsts = stretch.first_positions
    sum_firsts, longest = float(sum(firsts)), max(firsts) + offsets
    # Over rows, the sum of (first + offset)^2; whole numbers far below 2^53, so nothing is rounded.
    squares = float(sum(map(mul, firsts, firsts))) + offsets * (2.0 * sum_firsts + num_rows * offsets)
    return StepColumns(
        num_prefill_tokens=none,
        num_prefill_seqs=none,
        prefill_qk=none,
        prefill_qq=none,
        prefill_context=none,
        max_query=constant_column(1.0, num_steps),
        max_context=longest,
        num_decode_seqs=rows,
        decode_context=sum_firsts + num_rows * offsets,
        decode_context_sq=squares,
        max_decode_context=longest,
        shared_context=constant_column(float(stretch.shared_context), num_steps),
        num_sampled=rows,
        num_new_blocks=np.array(stretch.num_new_blocks, np.float64),
        num_admitted=none,
        num_released=released,
        graph_size=constant_column(float(graph_size or 0), num_steps),
    )
