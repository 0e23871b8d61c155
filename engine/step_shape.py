"""How much work one step holds, in the numbers that decide how long it takes."""

from typing import NamedTuple


class StepShape(NamedTuple):
    """Size of one batch. A row with one token is a decode row, whatever it computes; any other row is a prefill row.

    `context` of a row is the number of tokens that its last query token attends to, itself included.

    Attributes:
        num_prefill_tokens: query tokens of prefill rows.
        num_prefill_seqs: prefill rows.
        prefill_qk: over prefill rows, sum of (query tokens x context): attention work before the causal cut.
        prefill_qq: over prefill rows, sum of (query tokens squared): with `prefill_qk` it gives the exact causal work,
            qk - (qq - q) / 2 query-key pairs.
        prefill_context: over prefill rows, sum of context; what they read of the cache is this less their query tokens.
        max_query: most query tokens of one row.
        max_context: largest context of one row.
        num_decode_seqs: decode rows.
        decode_context: over decode rows, sum of context.
        decode_context_sq: over decode rows, sum of (context squared): with the sum it gives how unlike contexts are.
        max_decode_context: largest context of a decode row; 0 without.
        shared_context: tokens of blocks that several requests hold, whether they have a row or not, counted for each of
            them but one: what a step of all of them reads again.
        num_sampled: rows that yield a token.
        num_new_blocks: blocks handed out for this batch, hits not counted.
        num_admitted: requests that got their blocks in this batch, resumed ones included.
        num_released: requests that left (finished, aborted, failed, preempted) since the batch before.
    """

    num_prefill_tokens: int
    num_prefill_seqs: int
    prefill_qk: int
    prefill_qq: int
    prefill_context: int
    max_query: int
    max_context: int
    num_decode_seqs: int
    decode_context: int
    decode_context_sq: int
    max_decode_context: int
    shared_context: int
    num_sampled: int
    num_new_blocks: int
    num_admitted: int
    num_released: int
