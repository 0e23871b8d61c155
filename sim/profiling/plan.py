"""Which loads a sweep runs, in rounds of which each covers everything coarsely."""

from collections.abc import Iterator, Sequence
from random import Random

from sim.profiling.bounds import Bounds
from sim.profiling.decode_loads import like_contexts, skewed_loads, staircase
from sim.profiling.load import Load
from sim.profiling.prefill_loads import COARSE, FINE, FINE_LARGE, filling, mixed, prefill, together
from sim.profiling.shared_loads import shared_loads
from sim.profiling.traffic_loads import CALM_LONG, CALM_SHORT, LONG, traffic
from sim.profiling.unlike_loads import contexts, unlike_loads

_CONTEXTS = ((1024, 128, 4096, 16_384), (512, 2048, 8192, 32_000), (32, 256, 768, 1536, 3072, 6144, 12_288, 24_000))
_CACHED = ((0, 2048, 16_384), (512, 8192, 30_000), (1024, 4096, 24_000))
_MIXED = (
    ((1, 512), (8, 1024), (32, 1024), (128, 512)),
    ((4, 1024), (16, 2048), (64, 1024), (192, 512), (255, 256)),
    ((2, 4096), (8, 8192), (24, 512), (48, 3000), (96, 512), (160, 1024)),
)
_BESIDE = (
    (("wide", 9000, 12, 0), ("few long", 600, 48, 0), ("wide", 700, 90, 0)),
    (("wide", 14_000, 6, 8192), ("some long", 800, 30, 2048), ("wider", 400, 160, 0)),
    (("wider", 6000, 20, 16_384), ("wide", 16_000, 3, 24_000), ("wide", 2500, 60, 4096)),
)
"""Round by round, unlike rows beside prompts: spread, median, rows, and tokens in the cache before each prompt."""
_TRAFFIC = ((2, 8, 24, 80), (4, 16, 48, 160, 230), (1, 12, 36, 120, 250))
_CALM = (((8, 60), (3, 14)), ((20, 110), (6, 22)), ((36, 170), (9, 34)))
"""Round by round, rows of short and of long contexts of traffic in which prompts are rare."""


def plan(bounds: Bounds) -> tuple[Load, ...]:
    """All loads of a sweep, in the order to run them."""
    return tuple(_loads(bounds))


def _loads(bounds: Bounds) -> Iterator[Load]:
    warm_up = mixed(
        bounds, like_contexts(bounds, min(7, bounds.limits.max_num_seqs - 1), 64), COARSE, 2, family="warm-up"
    )
    yield from filter(None, [warm_up])
    yield from filling(bounds, latest=0.1)
    for number in range(3):
        yield from _round(bounds, number)
    # Once more from the beginning: time that is left makes means steadier.
    for number in range(3):
        yield from _round(bounds, number, seed=100)


def _round(bounds: Bounds, number: int, seed: int = 0) -> Iterator[Load]:
    """One of three rounds; each covers every kind of step at loads of its own.

    Kinds take turns: what slows a machine down for some seconds then falls on all of them alike.
    """
    kinds = [
        _decodes(bounds, number),
        _prefills(bounds, number),
        _mixes(bounds, number, seed),
        list(unlike_loads(bounds, number, seed)),
        list(skewed_loads(bounds, num_steps=12)) if number == 0 else [],
        list(shared_loads(bounds, number)),
        _traffics(bounds, number, seed),
    ]
    yield from interleaved(kinds)


def interleaved(kinds: Sequence[Sequence[Load]]) -> list[Load]:
    """All loads, those of each kind in their order and spread evenly over the whole.

    a a a a    b b     ->   a b a a b a
    """
    placed = [((index + 0.5) / len(kind), load) for kind in kinds for index, load in enumerate(kind)]
    return [load for _, load in sorted(placed, key=lambda each: each[0])]


def _decodes(bounds: Bounds, number: int) -> list[Load]:
    below = 3 * (number == 1)
    loads = [staircase(bounds, context, 8 if context <= 2048 else 5, below=below) for context in _CONTEXTS[number]]
    return list(filter(None, loads))


def _prefills(bounds: Bounds, number: int) -> list[Load]:
    sizes = (*FINE, *FINE_LARGE)
    loads = [prefill(bounds, sizes if cached <= 4096 else COARSE, cached, 2) for cached in _CACHED[number]]
    totals = ((512, 2048, 8192), (256, 1024, 4096), (128, 3000, 6000))[number]
    return list(filter(None, [*loads, together(bounds, totals, (2, 4, 8, 16, 32), 2)]))


def _mixes(bounds: Bounds, number: int, seed: int) -> list[Load]:
    most = bounds.limits.max_num_seqs - 1
    loads = [
        mixed(bounds, like_contexts(bounds, min(rows, most), context), COARSE, 2) for rows, context in _MIXED[number]
    ]
    cached = (1024, 4096, 16_384)[number]
    loads.append(mixed(bounds, like_contexts(bounds, min(8, most), 512), COARSE, 2, num_cached=cached))
    for name, median, rows, behind in _BESIDE[number]:
        drawn = contexts(Random(f"{seed} {name}"), name, median, min(rows, most), bounds.limits.max_model_len)
        loads.append(mixed(bounds, drawn, COARSE, 1, num_cached=behind))
    return list(filter(None, loads))


def _traffics(bounds: Bounds, number: int, seed: int) -> list[Load]:
    most = bounds.limits.max_num_seqs
    loads = [
        traffic(bounds, min(rows, most), 80, seed + 10 * number + position)
        for position, rows in enumerate(_TRAFFIC[number])
    ]
    loads.append(traffic(bounds, min((6, 14, 22)[number], most - 1), 40, seed + number, LONG))
    for kind, levels in zip((CALM_SHORT, CALM_LONG), _CALM[number], strict=True):
        loads += [traffic(bounds, min(rows, most - 1), 120, seed + 50 + number, kind) for rows in levels]
    return list(filter(None, loads))
