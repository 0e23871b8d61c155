import pytest

from analysis.load_curve import load_curves
from sim.sweeping.refinement import middle_rate
from tests.analysis.load_rows import load_row


@pytest.mark.parametrize(
    ("shares", "middle"),
    [
        ({1.0: 1.0, 2.0: 0.5}, 1.5),
        ({1.0: 1.0, 1.5: 1.0, 2.0: 0.5, 4.0: 0.1}, 1.75),
        ({1.0: 1.0, 1.0015: 0.0}, 1.001),
        ({1.0: 1.0, 1.0005: 0.0}, None),
        ({1.0: 1.0, 2.0: 1.0}, None),
        ({1.0: 0.0, 2.0: 0.0}, None),
        ({1.0: None, 2.0: None}, None),
    ],
)
def test_middle_between_met_and_missed(shares: dict[float, float | None], middle: float | None) -> None:
    rows = [load_row(rate, span_s=9, drain_s=1, slo_attainment=share) for rate, share in shares.items()]
    (curve,) = load_curves(rows, ["policy"], 0.9)

    assert middle_rate(curve) == middle
