"""Turns a finished draft into the frozen `Batch`."""

from itertools import islice
from operator import mul
from typing import NamedTuple

from engine.batch import Admission, Batch
from engine.context_sums import ContextSums
from engine.draft import Admitted, Draft
from engine.ended import Ended
from engine.running_set import RunningSet
from engine.step_shape import StepShape

Columns = tuple[tuple[str, ...], tuple[int, ...], tuple[bool, ...]]


def assemble(
    step: int,
    draft: Draft,
    running: RunningSet,
    shared_context: int,
    released: tuple[str, ...],
    ended: tuple[Ended, ...],
) -> Batch:
    """Make the batch of one step.

    Args:
        step: number of the schedule call.
        draft: what the policy decided.
        running: the running set, which keeps the columns of an unchanged decode batch.
        shared_context: see `StepShape`.
        released: requests whose backend state can go.
        ended: requests that failed while the draft was made.
    """
    request_ids, num_tokens, samples = running.decode_columns() if draft.is_decode_of_all else _columns(draft)
    first_positions = tuple([seq.num_computed_tokens for seq in draft.rows])
    num_sampled = draft.num_leading + sum(samples[draft.num_leading :])
    return Batch(
        step=step,
        request_ids=request_ids,
        first_positions=first_positions,
        num_tokens=num_tokens,
        samples=samples,
        new_blocks=tuple([(seq.request_id, ids) for seq, ids in draft.new_blocks.items()]),
        admitted=tuple([_admission(admitted) for admitted in draft.admitted]),
        preempted=tuple([seq.request_id for seq in draft.preempted]),
        released=released,
        ended=ended,
        shape=_shape(draft, running, first_positions, num_tokens, shared_context, num_sampled, len(released)),
    )


def _columns(draft: Draft) -> Columns:
    ids = tuple([seq.request_id for seq in draft.rows])
    others = islice(draft.rows.items(), draft.num_leading, None)
    samples = (True,) * draft.num_leading + tuple([seq.num_remaining == count for seq, count in others])
    return ids, tuple(draft.rows.values()), samples


def _admission(admitted: Admitted) -> Admission:
    seq = admitted.seq
    return Admission(
        request_id=seq.request_id,
        prompt=seq.request.prompt,
        params=seq.request.params,
        output_ids=tuple(seq.output_ids),
        block_table=admitted.block_table,
        num_hit_tokens=admitted.num_hit_tokens,
        is_resumed=admitted.is_resumed,
    )


def _shape(
    draft: Draft,
    running: RunningSet,
    firsts: tuple[int, ...],
    counts: tuple[int, ...],
    shared_context: int,
    num_sampled: int,
    num_released: int,
) -> StepShape:
    num_leading = draft.num_leading
    others = [*zip(firsts[num_leading:], counts[num_leading:], strict=True)] if num_leading < len(firsts) else []
    chunks = [(first, n) for first, n in others if n > 1]
    single = [first for first, n in others if n == 1]
    leading = firsts[:num_leading]
    decodes = ContextSums([*leading, *single]) if single else running.context_sums(leading)
    prefill = _prefill_work(chunks) if chunks else _NO_PREFILL
    return StepShape(
        num_prefill_tokens=prefill.num_tokens,
        num_prefill_seqs=len(chunks),
        prefill_qk=prefill.qk,
        prefill_qq=prefill.qq,
        prefill_context=prefill.context,
        max_query=max(counts) if chunks else min(decodes.num_rows, 1),
        max_context=max(prefill.longest, decodes.longest),
        num_decode_seqs=decodes.num_rows,
        decode_context=decodes.total,
        decode_context_sq=decodes.total_sq,
        max_decode_context=decodes.longest,
        shared_context=shared_context,
        num_sampled=num_sampled,
        num_new_blocks=draft.num_new_blocks,
        num_admitted=len(draft.admitted),
        num_released=num_released,
    )


class _PrefillWork(NamedTuple):
    """Sums over chunks: query tokens, query x context, query x query, context; and the longest context."""

    num_tokens: int
    qk: int
    qq: int
    context: int
    longest: int


_NO_PREFILL = _PrefillWork(0, 0, 0, 0, 0)


def _prefill_work(chunks: list[tuple[int, int]]) -> _PrefillWork:
    tokens, contexts = [n for _, n in chunks], [first + n for first, n in chunks]
    qk, qq = sum(map(mul, tokens, contexts)), sum(map(mul, tokens, tokens))
    return _PrefillWork(sum(tokens), qk, qq, sum(contexts), max(contexts))
