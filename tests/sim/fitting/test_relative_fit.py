import numpy as np
import pytest

from sim.fitting.relative_fit import Wish, fit_relative

RANDOM = np.random.default_rng(3)
DESIGN = RANDOM.random((200, 3))


def test_coefficients_are_found() -> None:
    found = fit_relative(DESIGN, DESIGN @ (1.0, 0.0, 3.0), np.ones(200))
    assert found == pytest.approx([1.0, 0.0, 3.0], abs=1e-9)


def test_none_is_negative() -> None:
    found = fit_relative(DESIGN, DESIGN @ (1.0, -2.0, 3.0), np.ones(200))
    assert found.min() == 0.0


def test_errors_count_in_relation_to_the_scale() -> None:
    """Two values for one constant: the small one, with a small scale, counts for more."""
    measured = np.array([1.0, 10.0])
    assert fit_relative(np.ones((2, 1)), measured, np.ones(2)) == pytest.approx([5.5])
    assert fit_relative(np.ones((2, 1)), measured, measured) == pytest.approx([1.1 / 1.01])


def test_a_wish_decides_what_the_data_leave_open_and_hardly_anything_else() -> None:
    design = np.array([[1.0, 0.0], [1.0, 0.0]])
    assert fit_relative(design, np.array([4.0, 4.0]), np.ones(2)) == pytest.approx([4.0, 0.0])
    alike = [Wish(np.array([1.0, -1.0]))]
    assert fit_relative(design, np.array([4.0, 4.0]), np.ones(2), alike) == pytest.approx([4.0, 4.0])
    both = np.eye(2)
    assert fit_relative(both, np.array([4.0, 8.0]), np.ones(2), alike) == pytest.approx([4.0, 8.0], rel=5e-3)


def test_a_wish_weighs_as_much_as_its_strength_says() -> None:
    """Between two values of unlike size the wish pulls the small one up; ten times as strong, further."""

    def found(strength: float) -> float:
        alike = [Wish(np.array([1.0, -1.0]), strength)]
        return float(fit_relative(np.eye(2), np.array([4.0, 8.0]), np.ones(2), alike)[0])

    assert 4.0 < found(1.0) < 4.02 < found(10.0) < 5.0
