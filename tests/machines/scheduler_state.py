"""What the invariants look at: the scheduler's own state, which it shows to nobody else."""

from collections import Counter

from engine import Scheduler, Sequence
from engine.context_sums import ContextSums
from tests.machines import block_views


def running(scheduler: Scheduler) -> list[Sequence]:
    """Sequences that run."""
    return list(scheduler._running)


def waiting(scheduler: Scheduler) -> list[Sequence]:
    """Sequences that wait."""
    return list(scheduler._waiting)


def live(scheduler: Scheduler) -> list[Sequence]:
    """Sequences that have not ended."""
    return list(scheduler._live.values())


def free_blocks(scheduler: Scheduler) -> list[int]:
    """Free block ids in the order of reuse."""
    return list(scheduler.block_manager._free)


def num_holders(scheduler: Scheduler) -> list[int]:
    """The count that the block manager keeps for each block."""
    return block_views.num_holders(scheduler.block_manager)


def tables_with(scheduler: Scheduler) -> Counter[int]:
    """For each block, the number of block tables in which it stands."""
    return Counter(block_id for seq in live(scheduler) for block_id in seq.block_table)


def key_of_blocks(scheduler: Scheduler) -> list[int | None]:
    """The key that each block carries."""
    return block_views.key_of_blocks(scheduler.block_manager)


def findable(scheduler: Scheduler) -> list[tuple[int, list[int]]]:
    """Every key with its blocks, the one that a hit returns first."""
    return block_views.findable(scheduler.block_manager)


def decoding(scheduler: Scheduler) -> list[Sequence]:
    """Running sequences of which the prompt is known to be computed."""
    return [seq for seq in scheduler._running if seq not in scheduler._running._prefilling]


def kept_sums(scheduler: Scheduler) -> ContextSums | None:
    """What is known of their contexts, if anything."""
    return scheduler._running._sums


def steps_to_length(scheduler: Scheduler) -> dict[Sequence, int]:
    """For each of them the steps before which it is not looked at."""
    lengths = scheduler._running._lengths
    assert {seq: step for step, seqs in lengths._seqs_at.items() for seq in seqs} == lengths._step_of
    assert sorted(lengths._steps) == sorted(lengths._seqs_at)
    return {seq: step - lengths._now for seq, step in lengths._step_of.items()}
