"""Between which rates to look for the highest one within the SLO."""

from analysis.load_curve import LoadCurve


def middle_rate(curve: LoadCurve) -> float | None:
    """The rate halfway between the highest that meets the SLO and the lowest that misses it, to 4 digits.

    None if there are no two such rates, or no rate of 4 digits lies between them.
    """
    met, missed = curve.highest_in_slo, curve.lowest_outside_slo
    if met is None or missed is None:
        return None
    low, high = float(met["rate_scale"]), float(missed["rate_scale"])
    middle = float(f"{(low + high) / 2:.4g}")
    return middle if low < middle < high else None
