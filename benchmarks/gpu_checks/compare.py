"""How far two tensors are apart, in one number."""

import torch


def largest_error(ours: torch.Tensor, plain: torch.Tensor) -> float:
    """Largest |ours - plain|, relative to |plain| plus its root mean square; infinite if they differ in what is NaN.

    Small next to large entries are so judged by the scale of all, and large ones by their own.
    """
    is_nan = plain.isnan()
    if ours.shape != plain.shape or not torch.equal(is_nan, ours.isnan()):
        return float("inf")
    ours, plain = ours[~is_nan].double(), plain[~is_nan].double()
    if not len(plain):
        return 0.0
    scale = plain.abs() + plain.square().mean().sqrt()
    return float(((ours - plain).abs() / scale).max())


def largest_row_error(ours: torch.Tensor, plain: torch.Tensor) -> float:
    """Largest ratio of norms |ours - plain| / |plain| over rows [N, ...]; a row of zeros must be met exactly."""
    ours, plain = ours.flatten(1).double(), plain.flatten(1).double()
    norms = plain.norm(dim=1)
    errors = (ours - plain).norm(dim=1)
    ratios = torch.where(norms > 0, errors / norms, torch.where(errors == 0, 0.0, float("inf")))
    return float(ratios.nan_to_num(float("inf"), posinf=float("inf")).max())


def relative_error(ours: torch.Tensor, plain: torch.Tensor) -> float:
    """Ratio of norms |ours - plain| / |plain| over everything."""
    return float((ours.double() - plain.double()).norm() / plain.double().norm())
