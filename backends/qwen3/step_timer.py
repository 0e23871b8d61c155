"""How long the device was busy with a step, and the one wait of a step."""

import time
from collections.abc import Callable
from typing import Protocol

import torch

_CHECK_EVERY_S = 0.05


class StepTimer(Protocol):
    """Stands at both ends of a step's device work."""

    def start(self) -> None:
        """The device work begins here."""
        ...

    def stop(self) -> None:
        """All device work of the step has been launched."""
        ...

    def wait(self) -> float:
        """Wait until the device is done; returns the seconds since `start`, on the device's clock."""
        ...


class CpuTimer:
    """On a CPU the work is done when the call returns."""

    def __init__(self) -> None:
        self._started = self._stopped = 0.0

    def start(self) -> None:
        """Look at the clock."""
        self._started = time.perf_counter()

    def stop(self) -> None:
        """Look at the clock."""
        self._stopped = time.perf_counter()

    def wait(self) -> float:
        """Nothing to wait for."""
        return self._stopped - self._started


class CudaTimer:
    """Two events on the current stream.

    Args:
        check: called about 20 times a second while waiting, raises if the wait would never end, as when another rank
            has died within a collective; None = just wait, which answers a little sooner.
    """

    def __init__(self, check: Callable[[], None] | None = None) -> None:
        self._check = check
        self._started = torch.cuda.Event(enable_timing=True)
        self._stopped = torch.cuda.Event(enable_timing=True)

    def start(self) -> None:
        """Record an event."""
        self._started.record()

    def stop(self) -> None:
        """Record an event."""
        self._stopped.record()

    def wait(self) -> float:
        """Wait for the last event."""
        wait_for(self._stopped, self._check)
        return self._started.elapsed_time(self._stopped) / 1000


def wait_for(event: torch.cuda.Event, check: Callable[[], None] | None) -> None:
    """Wait until the device has reached `event`; see `CudaTimer` about `check`."""
    if check is None:
        event.synchronize()
        return
    checked = time.monotonic()
    while not event.query():
        now = time.monotonic()
        if now - checked > _CHECK_EVERY_S:
            check()
            checked = now


def settle(check: Callable[[], None] | None) -> None:
    """Wait until all that was launched on the current stream is done."""
    event = torch.cuda.Event()
    event.record()
    wait_for(event, check)
