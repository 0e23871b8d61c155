from collections.abc import Iterator

from engine import StepResult
from sim.step_clock import MeasuredClock, PredictedClock
from sim.time_quantum import quantise

RESULT = StepResult((), 0.1, 0.05)


def _clock(times_s: list[float]) -> MeasuredClock:
    iterator: Iterator[float] = iter(times_s)
    return MeasuredClock(lambda: next(iterator))


def test_predicted_duration_is_rounded_once() -> None:
    lap_s = PredictedClock().lap(RESULT)

    assert lap_s == round(0.1 * 2**30) / 2**30
    assert quantise(lap_s) == lap_s


def test_measured_lap_is_the_time_since_the_last_one() -> None:
    clock = _clock([100.0, 101.5, 103.5])

    assert [clock.lap(RESULT), clock.lap(RESULT)] == [1.5, 2.0]


def test_idle_wait_counts_for_no_lap() -> None:
    clock = _clock([100.0, 101.0, 150.0, 150.5])

    first_s = clock.lap(RESULT)
    clock.restart()

    assert (first_s, clock.lap(RESULT)) == (1.0, 0.5)


def test_no_fraction_is_lost_over_many_laps() -> None:
    """A third of a quantum a lap: each lap alone would be rounded to nothing."""
    quantum_s = 2.0**-30
    clock = _clock([lap * quantum_s / 3 for lap in range(301)])

    laps_s = [clock.lap(RESULT) for _ in range(300)]

    assert sum(laps_s) == 100 * quantum_s
    assert set(laps_s) == {0.0, quantum_s}
