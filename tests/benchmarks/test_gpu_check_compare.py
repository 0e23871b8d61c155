import math

import torch

from benchmarks.gpu_checks.compare import largest_error, largest_row_error, relative_error

NAN = math.nan


def test_largest_error_is_relative_to_the_entry_and_to_the_scale_of_all() -> None:
    plain = torch.tensor([3.0, 4.0, 0.0])
    scale = (25 / 3) ** 0.5
    assert math.isclose(largest_error(torch.tensor([3.0, 4.4, 0.0]), plain), 0.4 / (4 + scale), rel_tol=1e-6)
    assert math.isclose(largest_error(torch.tensor([3.0, 4.0, 0.1]), plain), 0.1 / scale, rel_tol=1e-6)
    assert largest_error(plain, plain) == 0


def test_nan_must_be_in_the_same_places() -> None:
    assert largest_error(torch.tensor([NAN, 1.0]), torch.tensor([NAN, 1.0])) == 0
    assert largest_error(torch.tensor([NAN, 1.0]), torch.tensor([2.0, 1.0])) == math.inf
    assert largest_error(torch.tensor([2.0, 1.0]), torch.tensor([NAN, 1.0])) == math.inf


def test_the_worst_row_counts_and_rows_of_zeros_must_be_met() -> None:
    plain = torch.tensor([[3.0, 4.0], [0.3, 0.4], [0.0, 0.0]])
    ours = plain.clone()
    ours[1, 0] = 0.35
    assert math.isclose(largest_row_error(ours, plain), 0.1, rel_tol=1e-5)
    for wrong in (1e-9, NAN):
        ours[2, 1] = wrong
        assert largest_row_error(ours, plain) == math.inf


def test_nan_in_a_row_is_an_infinite_error() -> None:
    assert largest_row_error(torch.tensor([[NAN, 1.0]]), torch.tensor([[1.0, 1.0]])) == math.inf


def test_relative_error_of_everything() -> None:
    assert math.isclose(relative_error(torch.tensor([3.0, 4.5]), torch.tensor([3.0, 4.0])), 0.1)
