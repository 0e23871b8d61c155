"""Loads like real traffic: everything at random, at once."""

import math
from dataclasses import dataclass
from random import Random

from sim.profiling.bounds import Bounds
from sim.profiling.load import Chunk, Load, Standing


@dataclass(frozen=True, slots=True)
class Kind:
    """What requests are like.

    Attributes:
        medians: of contexts that rows begin with, in tokens; one of them is drawn.
        prompt: median of the tokens of a prompt that comes.
        num_cached: tokens in the cache before half of the prompts.
        counts: prompts that come at a step; one of them is drawn.
        spread: of the contexts that rows begin with, which are lognormal: standard deviation of their logarithm.
    """

    medians: tuple[int, ...]
    prompt: int
    num_cached: int
    counts: tuple[int, ...]
    spread: float = 0.8


SHORT = Kind((200, 600, 1500, 4000), 245, 0, (0, 0, 0, 1, 1, 2, 4))
LONG = Kind((6000, 12_000), 3000, 8192, (0, 0, 0, 0, 0, 1, 1, 2))
# Below saturation most steps decode, for some ten steps the same rows, and then some more or less.
CALM_SHORT = Kind((250, 500, 1000), 350, 0, (0,) * 15 + (1,), 0.6)
CALM_LONG = Kind((5000, 12_000), 4000, 8192, (0,) * 30 + (1,), 1.2)
_PROMPT_SPREAD = 1.3


def traffic(bounds: Bounds, num_rows: int, num_steps: int, seed: int, kind: Kind = SHORT) -> Load | None:
    """About `num_rows` rows that decode, prompts that come at some steps and go on decoding, others that end.

    Lengths are lognormal. What a step may hold is never exceeded: a prompt that would do so does not come.

    Args:
        bounds: of the engine.
        num_rows: rows to begin with, if they fit.
        num_steps: steps at which prompts may come.
        seed: of all draws.
        kind: of requests.

    Returns:
        The load; None if nothing fits.
    """
    random, limits = Random(seed), bounds.limits
    num_cached = bounds.whole_blocks(kind.num_cached)
    if 2 * num_cached > limits.max_model_len or 8 * num_cached > bounds.num_pool_tokens:
        num_cached = 0
    median = min(random.choice(kind.medians), limits.max_model_len // 3)
    standing = [_standing(random, limits.max_model_len, median, kind.spread, num_steps) for _ in range(num_rows)]
    # The text in the cache is a sequence of the set-up, too.
    while standing and (len(standing) >= limits.max_num_seqs or not bounds.fits(standing, bounds.num_pool_tokens // 4)):
        standing.pop()
    ends = [each.num_outputs for each in standing]
    num_left = bounds.num_pool_tokens // 4 - num_cached
    arrivals = []
    for step in range(1, num_steps + 1):
        num_running = sum(end > step for end in ends)
        chunks, budget = [], limits.max_num_batched_tokens - limits.max_num_seqs
        for _ in range(random.choice(kind.counts)):
            size = max(2, round(random.lognormvariate(math.log(kind.prompt), _PROMPT_SPREAD)))
            size = min(size, limits.max_model_len // 2 - num_cached)
            outputs, cached = random.choice((1, 2, 5, 20, 60)), random.choice((0, num_cached))
            if num_running == limits.max_num_seqs or not 2 <= size <= budget or cached + size + outputs > num_left:
                continue
            chunks.append(Chunk(size, cached, outputs))
            ends.append(step + outputs)
            num_running, budget = num_running + 1, budget - size
            num_left -= bounds.whole_blocks(cached + size + outputs)
        arrivals.append(tuple(chunks))
    if not ends:
        return None
    name = f"traffic about {num_rows} rows of {median}, seed {seed}"
    return Load(name, "traffic", tuple(standing), tuple(arrivals), num_cached)


def _standing(random: Random, max_model_len: int, median: int, spread: float, num_steps: int) -> Standing:
    drawn = round(median * random.lognormvariate(0, spread))
    # A third of them ends on the way.
    outputs = random.randint(5, num_steps) if random.random() < 1 / 3 else num_steps
    return Standing(min(max(1, drawn), max_model_len - num_steps - 2), 1 + outputs)
