"""Loads of steps that compute prompts, alone or beside decodes."""

from collections.abc import Iterator, Sequence

from sim.profiling.bounds import Bounds
from sim.profiling.load import Chunk, Family, Load, Standing

COARSE = (2, 16, 64, 128, 256, 512, 1024, 2048, 4096, 8192)
FINE = (2, 8, 24, 48, 64, 96, 128, 192, 256, 384, 512, 640, 768, 1000, 1024, 1300, 1536, 1800, 2048, 2600, 3072, 3600)
FINE_LARGE = (4096, 5000, 6144, 7000, 8192, 12_288, 16_384)


def prefill(bounds: Bounds, sizes: Sequence[int], num_cached: int, repeats: int) -> Load | None:
    """One prompt a step and nothing else, each size `repeats` times; None if none fits."""
    num_cached = bounds.whole_blocks(num_cached)
    fitting = _fitting(bounds, sizes, num_cached, num_rows=0)
    arrivals = tuple([(Chunk(size, num_cached),) for _ in range(repeats) for size in fitting])
    if not arrivals or not bounds.fits((), num_cached + 2 * fitting[-1]):
        return None
    return Load(f"prompts behind {num_cached} cached", "prefill", (), arrivals, num_cached, num_warm_up=0)


def together(bounds: Bounds, totals: Sequence[int], counts: Sequence[int], repeats: int) -> Load | None:
    """Several prompts in one step, by tokens of all and number of prompts; None if none fit."""
    limits = bounds.limits
    most = min(limits.max_num_batched_tokens, bounds.num_pool_tokens // 3)
    arrivals = [
        (Chunk(total // count),) * count
        for total in totals
        for count in counts
        if total <= most and count <= limits.max_num_seqs and 2 <= total // count < limits.max_model_len - 1
    ]
    if not arrivals:
        return None
    return Load("several prompts", "prefill", (), tuple(arrivals * repeats), num_warm_up=0)


def mixed(
    bounds: Bounds,
    contexts: Sequence[int],
    sizes: Sequence[int],
    repeats: int,
    *,
    num_cached: int = 0,
    family: Family = "mixed",
) -> Load | None:
    """A prompt at every second step beside rows that decode at these contexts; None if they do not fit.

    Contexts are shorter than asked for where sequences cannot be so long.
    """
    num_cached, num_rows = bounds.whole_blocks(num_cached), len(contexts)
    fitting = _fitting(bounds, sizes, num_cached, num_rows)
    arrivals: list[tuple[Chunk, ...]] = [()] * 3
    for size in fitting * repeats:
        arrivals += [(Chunk(size, num_cached),), ()]
    num_steps, limits = len(arrivals), bounds.limits
    longest = limits.max_model_len - num_steps - 2
    # The text in the cache is a sequence of the set-up, too.
    if not fitting or not num_rows or num_rows >= limits.max_num_seqs or longest < 1:
        return None
    standing = tuple([Standing(min(context, longest), num_steps + 1) for context in contexts])
    if not bounds.fits(standing, num_cached + 2 * fitting[-1]):
        return None
    name = f"{num_rows} decode at about {sum(contexts) // num_rows}, a prompt behind {num_cached} cached"
    num_warm_up = num_steps if family == "warm-up" else 3
    return Load(name, family, standing, tuple(arrivals), num_cached, num_warm_up)


def _fitting(bounds: Bounds, sizes: Sequence[int], num_cached: int, num_rows: int) -> list[int]:
    """Sizes that one step, one sequence and the pool can hold; the largest possible in place of those just beyond."""
    limits, left = bounds.limits, bounds.num_pool_tokens // 3 - num_cached // 2
    most = min(limits.max_num_batched_tokens - num_rows, limits.max_model_len - 2 - num_cached, left)
    return sorted({min(size, most) for size in sizes if size <= 2 * most and most >= 2})


def filling(bounds: Bounds, latest: float) -> Iterator[Load]:
    """Full-budget prompts until the pool has been written through; the largest steps that there are, many times."""
    limits = bounds.limits
    size = min(limits.max_num_batched_tokens, limits.max_model_len - 2, max(2, bounds.num_pool_tokens // 3))
    left = bounds.num_pool_tokens // size
    while left > 0:
        arrivals = ((Chunk(size),),) * min(left, 8)
        yield Load("largest prompts", "prefill", (), arrivals, num_warm_up=0, latest=latest)
        left -= 8
