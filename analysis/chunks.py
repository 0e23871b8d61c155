"""The prompt chunks of a run's requests."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from analysis.arrow_values import empty_table, text_scalar, to_numpy
from analysis.errors import RunError
from analysis.request_columns import RequestColumns
from analysis.schema import EVENTS
from analysis.step_columns import Ints, StepColumns


@dataclass(frozen=True, slots=True, eq=False)
class Chunks:
    """Prompt tokens that were computed, by request and in order of time. Made by `of`.

    Attributes:
        owner: row of `requests`; ascending. A request that has no row, as in a killed run, is left out.
        position: position in `steps` of the step that computed them.
        num_tokens: how many.
    """

    owner: Ints
    position: Ints
    num_tokens: Ints

    NAMES = ("step", "request_id", "kind", "num_tokens")
    """Columns of `events` that are read."""

    @classmethod
    def of(cls, events: Iterable[pa.Table], requests: RequestColumns, steps: StepColumns) -> "Chunks":
        """Takes the chunks of an `events` table.

        Args:
            events: pieces of it, in order; what is not kept of one is free before the next is read.
            requests: names to look up.
            steps: steps to look up.

        Raises:
            RunError: a chunk lies in a step that is not there, or has no number of tokens.
        """
        pieces = [cls._of_piece(piece, requests, steps) for piece in chain([empty_table(EVENTS)], events)]
        owner, position, num_tokens = (np.concatenate(column) for column in zip(*pieces, strict=True))
        order = np.argsort(owner, kind="stable")
        return cls(owner[order], position[order], num_tokens[order])

    @staticmethod
    def _of_piece(piece: pa.Table, requests: RequestColumns, steps: StepColumns) -> tuple[Ints, Ints, Ints]:
        chunks = piece.filter(pc.equal(piece.column("kind"), text_scalar("chunk")))
        if chunks.column("num_tokens").null_count:
            raise RunError("Table events: an event of kind chunk has no num_tokens; say how many were computed.")
        row = pc.index_in(chunks.column("request_id"), requests.request_id)
        is_known = to_numpy(row.is_valid())
        position = steps.positions(to_numpy(chunks.column("step")), "events")
        owner = to_numpy(row.drop_null()).astype(np.int64)
        return owner, position[is_known], to_numpy(chunks.column("num_tokens"))[is_known]
