"""Decode steps of the same rows that follow each other with nothing to decide between them."""

from dataclasses import dataclass
from typing import NamedTuple

from engine.ended import Ended


@dataclass(frozen=True, slots=True)
class Stretch:
    """What comes next, as far as it is certain: every running sequence decodes, step after step.

        step                   first_step      + 1      + 2   ...   + max_steps - 1
        position of row i   first_positions[i]  + 1      + 2

    Any number of these steps may be taken, from the first on; after the last of them a row may end.

    Attributes:
        first_step: number of the first schedule call that it stands for.
        request_ids: the rows of each step; all of them compute one token and sample.
        num_tokens: 1 for each row.
        first_positions: position (from 0) of the token that a row computes in the first step.
        num_new_blocks: blocks that each step hands out; as many entries as there are steps.
        num_used_blocks: blocks held before the first step.
        shared_context: of each step, see `StepShape`: new blocks are in one table each.
        released: requests whose backend state can go before the first step; see `Batch`.
    """

    first_step: int
    request_ids: tuple[str, ...]
    num_tokens: tuple[int, ...]
    first_positions: tuple[int, ...]
    num_new_blocks: tuple[int, ...]
    num_used_blocks: int
    shared_context: int
    released: tuple[str, ...]

    @property
    def max_steps(self) -> int:
        """Steps that can be taken."""
        return len(self.num_new_blocks)


class Growth(NamedTuple):
    """A block that a row got in one of the steps.

    Attributes:
        offset: which step, from 0.
        row: which row.
        block_id: which block.
    """

    offset: int
    row: int
    block_id: int


class StretchOutcome(NamedTuple):
    """What the steps that were taken have changed.

    Attributes:
        growth: blocks handed out, in order.
        ended: requests that ended with the last step.
    """

    growth: tuple[Growth, ...]
    ended: tuple[Ended, ...]
