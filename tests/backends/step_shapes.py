"""Step shapes made from rows, counted the slow and obvious way."""

from collections.abc import Sequence
from typing import NamedTuple

from hypothesis import strategies as st

from engine.step_shape import StepShape


class Row(NamedTuple):
    """A row of a batch: it computes `query` tokens after `history` cached ones."""

    query: int
    history: int

    @property
    def context(self) -> int:
        return self.history + self.query

    @property
    def num_pairs(self) -> int:
        """Query-key pairs under the causal mask, by their definition: token i of the row sees history + i + 1 keys."""
        return sum(self.history + i + 1 for i in range(self.query))


def shape_of(
    rows: Sequence[Row],
    *,
    shared_context: int = 0,
    num_sampled: int | None = None,
    num_new_blocks: int = 0,
    num_admitted: int = 0,
) -> StepShape:
    prefill = [row for row in rows if row.query > 1]
    decode = [row for row in rows if row.query == 1]
    return StepShape(
        num_prefill_tokens=sum(row.query for row in prefill),
        num_prefill_seqs=len(prefill),
        prefill_qk=sum(row.query * row.context for row in prefill),
        prefill_qq=sum(row.query**2 for row in prefill),
        prefill_context=sum(row.context for row in prefill),
        max_query=max(row.query for row in rows),
        max_context=max(row.context for row in rows),
        num_decode_seqs=len(decode),
        decode_context=sum(row.context for row in decode),
        decode_context_sq=sum(row.context**2 for row in decode),
        max_decode_context=max([row.context for row in decode], default=0),
        shared_context=shared_context,
        num_sampled=len(rows) if num_sampled is None else num_sampled,
        num_new_blocks=num_new_blocks,
        num_admitted=num_admitted,
        num_released=0,
    )


def decode_shape(num_rows: int, context: int) -> StepShape:
    return shape_of([Row(1, context - 1)] * num_rows)


ROWS = st.builds(Row, st.one_of(st.just(1), st.integers(2, 3000)), st.integers(0, 40_000))
BATCHES = st.lists(ROWS, min_size=1, max_size=40)
"""Rows of a step; with one query token a row is a decode row."""
