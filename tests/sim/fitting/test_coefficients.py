import numpy as np
import pytest

from sim.fitting.blank_times import blank_times
from sim.fitting.coefficients import basis, tail_share
from sim.fitting.vectors import places, with_vector
from tests.sim.fitting.made_up import measured




@pytest.mark.parametrize(("num_rows", "ratio"), [(25, 2.0), (64, 2.0), (256, 3.0), (1000, 5.0), (64, 12.0)])
def test_tail_is_the_time_in_which_too_few_rows_are_left(num_rows: int, ratio: float) -> None:
    # Contexts spread as 1 - u^(1/k) have the mean 1 / (k + 1), so the ratio to the longest, 1, is k + 1.
    share = tail_share(float(num_rows), np.array([ratio]))[0]
    power = ratio - 1
    inverse = 1 - np.linspace(1 / 2000, 1 - 1 / 2000, 1000) ** (1 / power)
    assert inverse.mean() == pytest.approx(1 / ratio, rel=0.02)
    x = np.linspace(0, 1, 100_001)
    expected = np.maximum(0, 1 - num_rows * (1 - x) ** power / 30).mean()
    assert share == pytest.approx(expected, rel=1e-3)


def test_equal_contexts_have_no_tail_once_they_fill_the_gpu() -> None:
    assert tail_share(64.0, np.array([1.0]))[0] == pytest.approx(0, abs=1e-6)
    assert tail_share(15.0, np.array([1.0]))[0] == pytest.approx(0.5, abs=0.02)


def test_tails_grow_with_the_ratio_and_shrink_with_rows() -> None:
    ratios = np.array([1.0, 1.5, 2.0, 4.0, 10.0, 100.0])
    few, many = tail_share(40.0, ratios), tail_share(200.0, ratios)
    assert (np.diff(few) > 0).all()
    assert (many[1:] < few[1:]).all()
    assert few[-1] < 1


def test_rows_beyond_those_that_are_split_share_one_rate_of_reading() -> None:
    blank = blank_times(measured(3000, seed=1).steps).decode
    rates = places(blank)["attention.per_1k_tokens_us"]
    matrix = basis(blank)
    column = next(place for place in range(rates.start, rates.stop) if matrix[:, place].sum() > 1)
    table = with_vector(blank, matrix[:, column]).attention.per_1k_tokens_us
    for line in table:
        assert [value for rows, value in zip(blank.attention.rows, line, strict=True) if rows > 24] == pytest.approx(
            [1.0] * sum(rows > 24 for rows in blank.attention.rows)
        )
        assert not any(value for rows, value in zip(blank.attention.rows, line, strict=True) if rows <= 24)
