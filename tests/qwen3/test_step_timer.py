import time

import pytest

from backends.qwen3.step_timer import CpuTimer, wait_for


class Event:
    """Done after so many seconds."""

    def __init__(self, done_after_s):
        self._done_at = time.monotonic() + done_after_s
        self.was_synchronised = False

    def query(self):
        return time.monotonic() >= self._done_at

    def synchronize(self):
        self.was_synchronised = True


def test_without_others_to_watch_the_wait_is_the_devices_own():
    event = Event(0)
    wait_for(event, None)
    assert event.was_synchronised


def test_others_are_looked_after_while_waiting():
    calls = []
    wait_for(Event(0.3), lambda: calls.append(time.monotonic()))
    assert 2 <= len(calls) <= 6


def test_a_wait_that_would_never_end_ends_with_the_others_error():
    def fail():
        raise RuntimeError("rank 1 has died")

    started = time.monotonic()
    with pytest.raises(RuntimeError, match="rank 1 has died"):
        wait_for(Event(1e9), fail)
    assert time.monotonic() - started < 5


def test_the_cpu_timer_measures_between_start_and_stop():
    timer = CpuTimer()
    timer.start()
    time.sleep(0.02)
    timer.stop()
    time.sleep(0.05)
    assert 0.02 <= timer.wait() < 0.06
