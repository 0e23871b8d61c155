from collections.abc import Sequence
from itertools import pairwise

import pytest

from sim.profiling.load import Family, Load, Standing
from sim.profiling.time_shares import TimeShares


def load(family: Family, *, latest: float = 1.0) -> Load:
    """Of size 10, about."""
    return Load(family, family, (Standing(1, 10),), latest=latest)


def run(loads: Sequence[Load], max_seconds: float, seconds: dict[str, float]) -> list[int]:
    """Numbers of the loads that are run if those of each family take so long."""
    shares, taken = TimeShares(loads, max_seconds), []
    for number, each in enumerate(loads):
        if not number or not shares.is_late(number):
            taken.append(number)
            shares.spend(number, seconds[each.family])
    return taken


def test_nothing_is_left_out_while_there_is_time() -> None:
    loads = [load("prefill"), load("decode")] * 50
    assert run(loads, 100, {"prefill": 1.0, "decode": 0.99}) == list(range(100))
    # One kind may take far longer than thought if others are as much quicker.
    assert run(loads, 100, {"prefill": 1.8, "decode": 0.1}) == list(range(100))


def test_the_kind_that_takes_longer_than_thought_is_left_out_evenly_and_no_other() -> None:
    loads = [load("prefill"), load("decode")] * 50
    taken = run(loads, 100, {"prefill": 4.0, "decode": 0.8})
    decodes, prefills = [number for number in taken if number % 2], [number for number in taken if not number % 2]
    # Until the time is up; all together may be late by one twenty-fifth of it.
    assert decodes == list(range(1, 2 * len(decodes), 2))
    assert len(decodes) >= 46
    assert 14 <= len(prefills) <= 18
    assert max(after - before for before, after in pairwise(prefills)) <= 10


@pytest.mark.parametrize("seconds", [0.5, 3.0])
def test_a_load_is_not_begun_after_its_latest_time(seconds: float) -> None:
    loads = [load("decode"), load("prefill", latest=0.1), load("decode")]
    assert run(loads, 10, {"decode": seconds, "prefill": 1.0}) == ([0, 1, 2] if seconds < 1 else [0, 2])
