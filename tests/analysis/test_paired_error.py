import numpy as np
import pytest

from analysis.paired_error import PairedError, largest

NAN = float("nan")


def test_error_of_each_pair_in_all_measures() -> None:
    """Errors are +1, -1 and +2 on references of 1, 2 and 4."""
    error = PairedError.of(np.array([1.0, 2.0, 4.0]), np.array([2.0, 1.0, 6.0]))

    assert error.size == 3
    assert error.bias_s == pytest.approx(2 / 3)
    assert error.bias_percent == pytest.approx(100 * 2 / 7)
    assert error.mean_abs_s == pytest.approx(4 / 3)
    assert error.mape == pytest.approx(100 * (1 + 0.5 + 0.5) / 3)
    assert error.as_dict()["bias_ms"] == pytest.approx(2000 / 3)


def test_correlation_is_pearsons() -> None:
    reference, times = np.array([1.0, 2.0, 4.0]), np.array([2.0, 1.0, 6.0])
    x, y = reference - reference.mean(), times - times.mean()
    expected = (x @ y) / np.sqrt((x @ x) * (y @ y))

    assert PairedError.of(reference, times).correlation == pytest.approx(expected)
    assert PairedError.of(reference, 3 * reference + 1).correlation == pytest.approx(1.0)


def test_pairs_without_a_side_do_not_count() -> None:
    error = PairedError.of(np.array([1.0, NAN, 3.0]), np.array([2.0, 5.0, NAN]))

    assert (error.size, error.bias_s, error.mape) == (1, 1.0, 100.0)


def test_references_of_zero_have_no_relative_error() -> None:
    error = PairedError.of(np.array([0.0, 2.0]), np.array([1.0, 3.0]))
    assert (error.bias_percent, error.mape) == (100.0, 50.0)

    error = PairedError.of(np.zeros(2), np.ones(2))
    assert (error.bias_s, error.bias_percent, error.mape, error.correlation) == (1.0, None, None, None)


def test_nothing_is_undefined() -> None:
    assert PairedError.of(np.array([]), np.array([])) == PairedError(0, None, None, None, None, None)


def test_largest_is_the_farthest_on_average() -> None:
    near, far = (PairedError.of(np.array([1.0, 2.0]), np.array([1.0, b])) for b in (2.1, 1.0))
    empty = PairedError.of(np.array([]), np.array([]))

    assert largest([near, empty, far]) is far
    assert largest([empty]) is None
    assert largest([]) is None
