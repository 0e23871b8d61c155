import numpy as np
import pytest

from sim.fitting.top_spreads import top_spreads


@pytest.mark.parametrize("rows", [40, 64, 128, 256])
def test_the_longest_of_normal_numbers_lie_as_far_above_the_mean_as_said(rows: int) -> None:
    drawn = np.sort(np.random.default_rng(0).normal(0, 1, (4000, rows)), axis=1)
    (spread,) = top_spreads([float(rows)], 32.0)
    assert drawn[:, -32:].mean() == pytest.approx(spread, rel=0.03)


def test_no_more_rows_than_are_looked_at_lie_above_nothing() -> None:
    assert top_spreads([1.0, 16.0, 32.0], 32.0) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("kind", ["lognormal", "few long"])
def test_other_spreads_come_near(kind: str) -> None:
    random = np.random.default_rng(1)
    contexts = random.lognormal(7, 0.8, (2000, 128))
    if kind == "few long":
        contexts = 1000 * (1 + 11 * (random.random((2000, 128)) < 0.15)) * random.lognormal(0, 0.2, (2000, 128))
    (spread,) = top_spreads([128.0], 32.0)
    top = np.sort(contexts, axis=1)[:, -32:].mean(axis=1)
    said = contexts.mean(axis=1) + spread * contexts.std(axis=1)
    assert abs(said - top).mean() < 0.07 * contexts.max(axis=1).mean()
