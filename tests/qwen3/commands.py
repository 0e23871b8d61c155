"""Batches and step commands made by hand."""

import numpy as np

from backends.qwen3.step_command import SeatBlocks, SeatedSequence, SeatTokens, StepCommand
from engine.batch import Admission, Batch
from engine.sampling_params import SamplingParams
from engine.step_shape import StepShape
from engine.token_prompt import TokenPrompt

NO_SHAPE = StepShape(*[0] * len(StepShape._fields))


def ints(*values):
    return np.array(values, dtype=np.int32)


def command(rows, *, admitted=(), released=(), grown=(), new_tokens=(), failed=()):
    """A step command.

    Args:
        rows: (seat, first position, number of tokens, samples) of each row.
        admitted: (seat, tokens, block table, hit blocks).
        released: seats.
        grown: (seat, block ids).
        new_tokens: (seat, position, token).
        failed: seats.
    """
    seats, firsts, counts, samples = zip(*rows, strict=True)
    return StepCommand(
        new_tokens=SeatTokens(
            *(ints(*column) for column in (zip(*new_tokens, strict=True) if new_tokens else [()] * 3))
        ),
        failed=tuple(failed),
        released=tuple(released),
        admitted=tuple(SeatedSequence(seat, ints(*ids), ints(*table), hits) for seat, ids, table, hits in admitted),
        grown=SeatBlocks(
            ints(*[seat for seat, _ in grown]),
            ints(*[len(ids) for _, ids in grown]),
            ints(*[block for _, ids in grown for block in ids]),
        ),
        seats=ints(*seats),
        first_positions=ints(*firsts),
        num_tokens=ints(*counts),
        samples=np.array(samples, dtype=np.bool_),
    )


def admission(name, prompt, table, *, outputs=(), hit=0, params=None):
    """An admission; `prompt` is a list of token ids or a prompt."""
    prompt = TokenPrompt(prompt) if isinstance(prompt, list) else prompt
    params = params or SamplingParams(temperature=0)
    return Admission(name, prompt, params, tuple(outputs), tuple(table), hit, bool(outputs))


def batch(rows, *, admitted=(), released=(), new_blocks=(), step=0):
    """A batch; rows are (id, first position, number of tokens, samples)."""
    ids, firsts, counts, samples = zip(*rows, strict=True)
    return Batch(
        step=step,
        request_ids=tuple(ids),
        first_positions=tuple(firsts),
        num_tokens=tuple(counts),
        samples=tuple(samples),
        new_blocks=tuple(new_blocks),
        admitted=tuple(admitted),
        preempted=(),
        released=tuple(released),
        ended=(),
        shape=NO_SHAPE._replace(
            num_sampled=sum(samples),
            num_prefill_seqs=sum(count > 1 for count in counts),
            num_prefill_tokens=sum(count for count in counts if count > 1),
            num_decode_seqs=sum(count == 1 for count in counts),
            num_released=len(released),
        ),
    )
