"""What one step computes: a frozen value, made once a step after the policy has decided."""

from dataclasses import dataclass
from typing import NamedTuple

from engine.ended import Ended
from engine.prompt import Prompt
from engine.sampling_params import SamplingParams
from engine.step_shape import StepShape


class Admission(NamedTuple):
    """A request that gets its blocks in this batch, for the first time or again after a preemption.

    From here on a backend knows the request's tokens: the prompt, the outputs so far, and what it returns itself.

    Attributes:
        request_id: which; it is also a row of the batch.
        prompt: its content.
        params: how to sample.
        output_ids: output tokens so far; not empty only when resumed after a preemption.
        block_table: all its blocks, the hit ones first.
        num_hit_tokens: leading tokens that are in the cache and are not computed.
        is_resumed: whether it was admitted before.
    """

    request_id: str
    prompt: Prompt
    params: SamplingParams
    output_ids: tuple[int, ...]
    block_table: tuple[int, ...]
    num_hit_tokens: int
    is_resumed: bool


@dataclass(frozen=True, slots=True)
class Batch:
    """One step's work as columns; entry i of each column belongs to row i.

    Attributes:
        step: number of the schedule call, from 0.
        request_ids: the rows.
        first_positions: position (from 0) of the first token that the row computes.
        num_tokens: tokens that the row computes, at positions first .. first + n - 1.
        samples: whether the row's last token is the last one known, so that it yields a new token.
        new_blocks: (request id, block ids appended to its table) of rows that grew; `admitted` has whole tables.
        admitted: requests that get their blocks in this batch, in admission order.
        preempted: requests that this step preempted, in order.
        released: requests whose backend state can go: ended or preempted since the last batch that had rows. An id
            may be released and admitted in one batch; the release comes first.
        ended: requests that failed while this batch was made.
        shape: size of the work.
    """

    step: int
    request_ids: tuple[str, ...]
    first_positions: tuple[int, ...]
    num_tokens: tuple[int, ...]
    samples: tuple[bool, ...]
    new_blocks: tuple[tuple[str, tuple[int, ...]], ...]
    admitted: tuple[Admission, ...]
    preempted: tuple[str, ...]
    released: tuple[str, ...]
    ended: tuple[Ended, ...]
    shape: StepShape

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.request_ids)
