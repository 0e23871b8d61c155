from collections.abc import Iterator
from itertools import count

import pytest

from sim.host_speed import HostSpeed


def ticks(*lengths_s: float) -> Iterator[float]:
    now_s = 0.0
    for length_s in lengths_s:
        yield now_s
        now_s += length_s
        yield now_s


def test_the_mean_of_all_probes_in_microseconds() -> None:
    clock = ticks(10e-6, 16e-6)
    speed = HostSpeed(lambda: next(clock))
    assert speed.probe_us is None
    speed.probe()
    assert speed.probe_us == pytest.approx(10)
    speed.probe()
    assert speed.probe_us == pytest.approx(13)


def test_a_run_counts_its_own_probes() -> None:
    clock = count()
    speed = HostSpeed(lambda: float(next(clock)))
    speed.probe()
    speed.restart()
    assert speed.probe_us is None
