"""When decoding sequences reach positions at which something happens."""

from engine.sequence import Sequence


def decode_turns(
    seqs: list[Sequence], rows: list[int], positions: list[int], block_size: int, num_steps: int
) -> list[int]:
    """When some of the sequences that all decode reach the position given for each, and then one a block further.

        turn   0 ... n - 1 | n ... 2n - 1 | ...      turn = step x n + row, for n sequences
               first step  | second       |

    Args:
        seqs: all that decode, a token in each step.
        rows: which of them are looked at.
        positions: for each of these the first position.
        block_size: distance to the next.
        num_steps: how many steps there are.

    Returns:
        The turns in order.
    """
    num_seqs = len(seqs)
    turns: list[int] = []
    for row, position in zip(rows, positions, strict=True):
        offset = position - seqs[row].num_computed_tokens
        if offset < num_steps:
            turns += range(offset * num_seqs + row, num_steps * num_seqs, block_size * num_seqs)
    turns.sort()
    return turns
