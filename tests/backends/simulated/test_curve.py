import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends.simulated.curve import Bands, Curves

SLOPING = Curves((1.0, 3.0, 7.0), [(10.0, 20.0, 24.0), (5.0, 5.0, 9.0)])


@pytest.mark.parametrize(
    ("x", "values"),
    [
        (0.0, (10.0, 5.0)),  # before the first point: its value
        (1.0, (10.0, 5.0)),
        (2.0, (15.0, 5.0)),
        (3.0, (20.0, 5.0)),
        (5.0, (22.0, 7.0)),
        (7.0, (24.0, 9.0)),
        (11.0, (28.0, 13.0)),  # beyond the last: its slope goes on
    ],
)
def test_values_between_points_lie_on_lines(x: float, values: tuple[float, float]) -> None:
    assert [SLOPING.at(x, band) for band in (0, 1)] == list(values)


def test_a_level_curve_keeps_its_last_value() -> None:
    assert Curves((1.0, 3.0), [(1.0, 2.0)], is_level_beyond=True).at(100.0) == 2.0


def test_one_point_is_a_constant() -> None:
    assert [Curves((5.0,), [(3.0,)]).at(x) for x in (0.0, 5.0, 9.0)] == [3.0, 3.0, 3.0]


@given(st.lists(st.tuples(st.floats(-10, 10), st.integers(0, 1)), min_size=1, max_size=30))
def test_one_and_many_give_the_same_bits(drawn: list[tuple[float, int]]) -> None:
    x, band = np.array([each[0] for each in drawn]), np.array([each[1] for each in drawn])
    alone = np.array([SLOPING.at(*each) for each in drawn])
    assert SLOPING.at(x, band).tobytes() == alone.tobytes()


def test_a_limit_belongs_to_its_own_band() -> None:
    bands = Bands((10.0, 20.0))
    x = [0.0, 10.0, 10.5, 20.0, 21.0]
    assert [bands.of(each) for each in x] == [0, 0, 1, 1, 2]
    assert bands.of(np.array(x)).tolist() == [0, 0, 1, 1, 2]


def test_without_limits_there_is_one_band() -> None:
    assert Bands(()).of(5.0) == 0
    assert Bands(()).of(np.array([5.0, 6.0])).tolist() == [0, 0]
