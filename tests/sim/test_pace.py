import time
from collections.abc import Generator

import pytest
import simpy

from sim.pace import Pace, VirtualPace, WallPace


def _wait(pace: Pace, seconds: float) -> float:
    """Lets the clock go on; returns the wall time that it took."""

    def process() -> Generator[simpy.Event, None, None]:
        yield pace.environment.timeout(seconds)

    start_s = time.monotonic()
    pace.start()
    pace.environment.run(pace.environment.process(process()))
    return time.monotonic() - start_s


def test_virtual_clock_jumps() -> None:
    pace = VirtualPace()

    assert _wait(pace, 3600.0) < 1.0
    assert (pace.environment.now, pace.lag_s()) == (3600.0, 0.0)


def test_wall_clock_waits() -> None:
    pace = WallPace()

    assert _wait(pace, 0.1) >= 0.1
    assert pace.environment.now == 0.1
    assert pace.lag_s() >= 0.0


def test_wall_clock_begins_at_the_start_and_not_when_it_was_made() -> None:
    pace = WallPace()
    time.sleep(0.1)
    pace.start()

    assert pace.lag_s() < 0.1


def test_lag_is_the_wall_time_that_the_clock_is_behind() -> None:
    pace = WallPace()
    pace.start()
    time.sleep(0.05)

    assert pace.lag_s() == pytest.approx(0.05, abs=0.04)
    assert pace.lag_s() >= 0.05
