"""Loads like real traffic: everything at random, at once."""

from random import Random

from sim.profiling.bounds import Bounds
from sim.profiling.load import Chunk, Load, Standing


def traffic(bounds: Bounds, num_rows: int, num_steps: int, seed: int) -> Load | None:
    """About `num_rows` rows that decode, prompts that come at some steps and go on decoding, others that end.

    Lengths are lognormal. What a step may hold is never exceeded: a prompt that would do so does not come.

    Args:
        bounds: of the engine.
        num_rows: rows to begin with, if they fit.
        num_steps: steps at which prompts may come.
        seed: of all draws.

    Returns:
        The load; None if nothing fits.
    """
    random, limits = Random(seed), bounds.limits
    median = min(random.choice((200, 600, 1500, 4000)), limits.max_model_len // 3)
    standing = [_standing(random, limits.max_model_len, median, num_steps) for _ in range(num_rows)]
    while standing and not bounds.fits(standing, bounds.num_pool_tokens // 4):
        standing.pop()
    ends = [each.num_outputs for each in standing]
    num_left = bounds.num_pool_tokens // 4
    arrivals = []
    for step in range(1, num_steps + 1):
        num_running = sum(end > step for end in ends)
        chunks, budget = [], limits.max_num_batched_tokens - limits.max_num_seqs
        for _ in range(random.choice((0, 0, 0, 1, 1, 2, 4))):
            size = min(max(2, round(random.lognormvariate(5.5, 1.3))), limits.max_model_len // 2)
            outputs = random.choice((1, 2, 5, 20, 60))
            if num_running == limits.max_num_seqs or size > budget or size + outputs > num_left:
                continue
            chunks.append(Chunk(size, 0, outputs))
            ends.append(step + outputs)
            num_running, budget = num_running + 1, budget - size
            num_left -= bounds.whole_blocks(size + outputs)
        arrivals.append(tuple(chunks))
    if not ends:
        return None
    return Load(f"traffic about {num_rows} rows of {median}, seed {seed}", "traffic", tuple(standing), tuple(arrivals))


def _standing(random: Random, max_model_len: int, median: int, num_steps: int) -> Standing:
    drawn = round(median * random.lognormvariate(0, 0.8))
    # A third of them ends on the way.
    outputs = random.randint(5, num_steps) if random.random() < 1 / 3 else num_steps
    return Standing(min(max(1, drawn), max_model_len - num_steps - 2), 1 + outputs)
