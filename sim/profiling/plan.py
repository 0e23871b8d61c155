"""Which loads a sweep runs, the most important ones first, so that a short one covers everything coarsely."""

from collections.abc import Iterator

from sim.profiling.bounds import Bounds
from sim.profiling.decode_loads import skewed_loads, staircase
from sim.profiling.load import Load
from sim.profiling.prefill_loads import COARSE, FINE, FINE_LARGE, filling, mixed, prefill, together
from sim.profiling.traffic_loads import traffic

_CONTEXTS = ((1024, 128, 4096, 16_384), (512, 2048, 8192, 32_000), (32, 256, 768, 1536, 3072, 6144, 12_288, 24_000))
_CACHED = ((0, 2048, 16_384), (512, 8192), (1024, 4096, 32_000))
_MIXED = (
    ((1, 512), (8, 1024), (32, 1024), (128, 512)),
    ((4, 1024), (16, 2048), (64, 1024), (192, 512), (255, 256)),
    ((2, 4096), (8, 8192), (24, 512), (48, 3000), (96, 512), (160, 1024)),
)
_TRAFFIC = ((2, 8, 24, 80), (4, 16, 48, 160, 230), (1, 12, 36, 120, 250))


def plan(bounds: Bounds) -> tuple[Load, ...]:
    """All loads of a sweep, in the order to run them."""
    return tuple(_loads(bounds))


def _loads(bounds: Bounds) -> Iterator[Load]:
    warm_up = mixed(bounds, min(7, bounds.limits.max_num_seqs - 1), 64, COARSE, 2, family="warm-up")
    yield from filter(None, [warm_up])
    yield from filling(bounds, latest=0.1)
    for number in range(3):
        yield from _round(bounds, number)
    # Once more from the beginning: time that is left makes means steadier.
    for number in range(3):
        yield from _round(bounds, number, seed=100)


def _round(bounds: Bounds, number: int, seed: int = 0) -> Iterator[Load]:
    """One of three rounds; each covers every kind of step at loads of its own."""
    limits = bounds.limits
    below = 3 * (number == 1)
    decodes = [staircase(bounds, context, 8 if context <= 2048 else 5, below=below) for context in _CONTEXTS[number]]
    sizes = (*FINE, *FINE_LARGE)
    prefills = [prefill(bounds, sizes if cached <= 4096 else COARSE, cached, 2) for cached in _CACHED[number]]
    mixes = [mixed(bounds, min(rows, limits.max_num_seqs - 1), context, COARSE, 2) for rows, context in _MIXED[number]]
    mixes.append(
        mixed(bounds, min(8, limits.max_num_seqs - 1), 512, COARSE, 2, num_cached=(1024, 4096, 16_384)[number])
    )
    totals = ((512, 2048, 8192), (256, 1024, 4096), (128, 3000, 6000))[number]
    several = together(bounds, totals, (2, 4, 8, 16, 32), 2)
    yield from filter(None, (*decodes, *prefills, *mixes, several))
    if number == 0:
        yield from skewed_loads(bounds, num_steps=12)
    for position, rows in enumerate(_TRAFFIC[number]):
        load = traffic(bounds, min(rows, limits.max_num_seqs), 80, seed + 10 * number + position)
        yield from filter(None, [load])
