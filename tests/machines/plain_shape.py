"""The size of a step, counted row by row from the batch that shows it."""

from engine import Batch, StepShape


def plain_shape(batch: Batch) -> StepShape:
    """What `batch.shape` must be; blocks handed out, to withdrawn rows too, and shared ones are taken from there."""
    rows = [(n, first + n) for first, n in zip(batch.first_positions, batch.num_tokens, strict=True)]
    chunks, decodes = [row for row in rows if row[0] > 1], [context for n, context in rows if n == 1]
    return StepShape(
        num_prefill_tokens=sum(n for n, _ in chunks),
        num_prefill_seqs=len(chunks),
        prefill_qk=sum(n * context for n, context in chunks),
        prefill_qq=sum(n * n for n, _ in chunks),
        prefill_context=sum(context for _, context in chunks),
        max_query=max(n for n, _ in rows),
        max_context=max(context for _, context in rows),
        num_decode_seqs=len(decodes),
        decode_context=sum(decodes),
        decode_context_sq=sum(context * context for context in decodes),
        max_decode_context=max(decodes, default=0),
        shared_context=batch.shape.shared_context,
        num_sampled=sum(batch.samples),
        num_new_blocks=batch.shape.num_new_blocks,
        num_admitted=len(batch.admitted),
        num_released=len(batch.released),
    )
