import math

import numpy as np
import pytest

from traces import TraceError
from traces.generation import ArrivalProcess, DiurnalArrivals, GammaArrivals, OnOffArrivals

NUM = 20_000


def drawn(process: ArrivalProcess, num: int = NUM, seed: int = 1) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return process.draw_s(num, np.random.default_rng(seed))


@pytest.mark.parametrize(
    "process",
    [GammaArrivals(5.0), GammaArrivals(5.0, 0.25), OnOffArrivals(5.0, 2.0, 8.0), DiurnalArrivals(5.0, 1.0, 400.0)],
)
def test_each_has_the_rate_asked_for_and_ascends(process: ArrivalProcess) -> None:
    arrivals = drawn(process)
    assert len(arrivals) == NUM
    assert np.all(np.diff(arrivals) >= 0)
    assert arrivals[0] >= 0
    assert NUM / arrivals[-1] == pytest.approx(5.0, rel=0.05)


@pytest.mark.parametrize("shape", [0.25, 1.0, 4.0])
def test_the_spread_of_gaps_follows_from_the_shape(shape: float) -> None:
    gaps = np.diff(drawn(GammaArrivals(3.0, shape)))
    assert np.std(gaps) / np.mean(gaps) == pytest.approx(shape**-0.5, rel=0.05)


def test_bursts_hold_every_arrival_at_the_rate_of_a_burst() -> None:
    arrivals = drawn(OnOffArrivals(5.0, 2.0, 8.0))
    assert np.all(arrivals % 10 < 2)
    # 5 a second in the mean with a duty of a fifth: 25 a second in a burst, 50 a burst, as Poisson has it.
    per_burst = np.bincount((arrivals // 10).astype(int))[:-1]
    assert np.mean(per_burst) == pytest.approx(50, rel=0.02)
    assert np.var(per_burst) == pytest.approx(50, rel=0.15)
    within = arrivals % 10
    assert np.mean(within) == pytest.approx(1.0, abs=0.02)


def test_a_day_holds_what_the_integral_of_its_rate_says() -> None:
    rate, amplitude, period_s = 5.0, 0.8, 400.0
    arrivals = drawn(DiurnalArrivals(rate, amplitude, period_s))
    num_days = int(arrivals[-1] // period_s)
    assert num_days >= 9
    in_day = arrivals[arrivals < num_days * period_s] % period_s
    for eighth in range(8):
        low, high = eighth * period_s / 8, (eighth + 1) * period_s / 8
        # The integral of rate * (1 - amplitude * cos(2 pi t / period)).
        wave = period_s / (2 * math.pi) * (math.sin(math.tau * high / period_s) - math.sin(math.tau * low / period_s))
        expected = num_days * rate * (high - low - amplitude * wave)
        assert np.sum((low <= in_day) & (in_day < high)) == pytest.approx(expected, abs=5 * expected**0.5)


def test_no_amplitude_is_a_poisson_process() -> None:
    gaps = np.diff(drawn(DiurnalArrivals(5.0, 0.0, 400.0)))
    assert np.std(gaps) / np.mean(gaps) == pytest.approx(1, rel=0.03)


def test_the_first_arrivals_do_not_depend_on_how_many_follow() -> None:
    process = DiurnalArrivals(5.0, 0.8, 400.0)
    assert drawn(process, 9000)[:10].tolist() == drawn(process, 10).tolist()


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: GammaArrivals(0.0), "rate is 0.0, but it must be a number above 0"),
        (lambda: GammaArrivals(1.0, math.inf), "the shape of gaps is inf"),
        (lambda: OnOffArrivals(1.0, 0.0, 1.0), "on is 0.0"),
        (lambda: OnOffArrivals(1.0, 1.0, math.nan), "off is nan"),
        (lambda: DiurnalArrivals(1.0, 1.5, 60.0), "amplitude is 1.5, but it must be a number from 0 to 1"),
        (lambda: DiurnalArrivals(1.0, 0.5, -1.0), "period is -1.0"),
    ],
)
def test_what_cannot_be_is_refused(make: object, sentence: str) -> None:
    with pytest.raises(TraceError, match=sentence):
        make()  # type: ignore[operator]  # each of them can be called
