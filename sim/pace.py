"""Whether the run's clock jumps or waits."""

import time
from typing import Protocol

import simpy
import simpy.rt


class Pace(Protocol):
    """Makes the clock of a run."""

    @property
    def environment(self) -> simpy.Environment:
        """The clock; `environment.now` is the only time that stamps a record."""
        ...

    def start(self) -> None:
        """The run begins now; what took time until here was start-up."""
        ...

    def lag_s(self) -> float:
        """How far the clock is behind the wall, in seconds."""
        ...


class VirtualPace:
    """The clock jumps from event to event: idle time costs nothing."""

    def __init__(self) -> None:
        """Start at 0."""
        self.environment = simpy.Environment(0.0)

    def start(self) -> None:
        """Nothing to do."""

    def lag_s(self) -> float:
        """Always 0: there is no wall to be behind."""
        return 0.0


class WallPace:
    """The clock waits for the wall, and is late where the machine is too slow."""

    def __init__(self) -> None:
        """Start at 0."""
        self.environment = simpy.rt.RealtimeEnvironment(0.0, strict=False)

    def start(self) -> None:
        """Let the clock's 0 be now."""
        self.environment.sync()

    def lag_s(self) -> float:
        """Wall time since the start, less the clock."""
        return time.monotonic() - self.environment.real_start - self.environment.now
