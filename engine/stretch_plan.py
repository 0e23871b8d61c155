"""How many decode steps can follow each other before something else happens."""

from engine.block_manager import BlockManager
from engine.sequence import Sequence


def count_new_blocks(seqs: list[Sequence], blocks: BlockManager, max_steps: int) -> list[int]:
    """Blocks that each of the next steps hands out if all of `seqs` decode in it.

    Args:
        seqs: the running sequences, each with one token to compute.
        blocks: where their blocks come from; nothing is taken.
        max_steps: most steps to look ahead.

    Returns:
        One entry a step. The last step is the first in which a sequence reaches its length, or the last for which
        there are enough free blocks, or number `max_steps`.
    """
    num_steps = min(max_steps, min([seq.stop_at - 1 - seq.num_computed_tokens for seq in seqs]))
    counts, size = [0] * num_steps, blocks.block_size
    for seq in seqs:
        for step in range(len(seq.block_table) * size - seq.num_computed_tokens, num_steps, size):
            counts[step] += 1
    num_left = blocks.num_free
    if sum(counts) > num_left:
        for step, count in enumerate(counts):
            num_left -= count
            if num_left < 0:
                return counts[:step]
    return counts
