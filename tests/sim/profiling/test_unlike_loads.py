from random import Random

import pytest

from engine import Limits
from sim.profiling.bounds import Bounds
from sim.profiling.load import Load
from sim.profiling.unlike_loads import contexts, descent, unlike_loads

H200 = Bounds(Limits(block_size=256), 4510, (1, 2, 4, *range(8, 257, 8)))


def rows_at(load: Load, step: int) -> list[int]:
    """Prompts of the rows that decode in a step."""
    return [each.num_tokens for each in load.standing if each.num_outputs > step]


def test_rows_pass_through_the_levels_downwards_with_unlike_contexts_on_each() -> None:
    load = descent(H200, "wide", 9000, 24, 8, seed=0)
    assert load is not None
    counts = [len(rows_at(load, step)) for step in range(1, load.num_steps)]
    assert counts == [24] * 8 + [16] * 8 + [8] * 8 + [4] * 8 + [2] * 8
    for step in (1, 9, 17, 25):
        rows = rows_at(load, step)
        assert max(rows) > 1.2 * sum(rows) / len(rows)


def test_ends_do_not_follow_contexts() -> None:
    load = descent(H200, "some long", 500, 256, 3, seed=1)
    assert load is not None
    longs = [len([row for row in rows_at(load, step) if row > 2500]) / len(rows_at(load, step)) for step in (1, 40, 70)]
    assert longs == pytest.approx([0.2, 0.2, 0.2], abs=0.08)


def test_two_kinds_of_rows_have_their_shares() -> None:
    drawn = contexts(Random(0), "few long", 500, 160, 40_000)
    assert sum(each > 2500 for each in drawn) == 10
    assert sum(each < 1000 for each in drawn) == 150


@pytest.mark.parametrize(("name", "spread"), [("even", 0.3), ("wide", 0.8), ("wider", 1.3)])
def test_wider_is_wider(name: str, spread: float) -> None:
    drawn = sorted(contexts(Random(0), name, 2000, 1000, 10**9))
    # Of a lognormal the 84th percentile is e^spread times the median.
    assert drawn[500] == pytest.approx(2000, rel=0.1)
    assert drawn[841] / drawn[500] == pytest.approx(2.718281828**spread, rel=0.1)


def test_nothing_is_longer_than_a_sequence_may_be() -> None:
    bounds = Bounds(Limits(block_size=16, max_num_seqs=8, max_model_len=512), 2000, (1, 2, 4, 8))
    loads = [load for number in range(3) for load in unlike_loads(bounds, number, seed=0)]
    assert max(each.num_tokens + each.num_outputs for load in loads for each in load.standing) <= 512


def test_rows_that_do_not_fit_are_fewer() -> None:
    load = descent(Bounds(Limits(block_size=256), 500, H200.graph_sizes), "wide", 9000, 24, 8, seed=0)
    assert load is not None
    assert 2 <= len(load.standing) < 24


def test_one_row_has_no_unlike_contexts() -> None:
    assert descent(H200, "wide", 9000, 1, 8, seed=0) is None


def test_the_same_seed_gives_the_same_load() -> None:
    assert descent(H200, "wide", 900, 64, 3, seed=5) == descent(H200, "wide", 900, 64, 3, seed=5)
    assert descent(H200, "wide", 900, 64, 3, seed=5) != descent(H200, "wide", 900, 64, 3, seed=6)
