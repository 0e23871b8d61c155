"""What the serving loop shares with what drives its steps."""

from typing import NamedTuple

import simpy

from engine import Scheduler
from sim.arrival_source import ArrivalSource
from sim.interrupt import Interrupt
from sim.recorder import Recorder


class Serving(NamedTuple):
    """One engine's run.

    Attributes:
        environment: the clock.
        arrivals: what is still to come; it learns of every end.
        scheduler: what waits and runs.
        recorder: what has happened.
        interrupt: learns when something is written down, and tells when the run shall end.
    """

    environment: simpy.Environment
    arrivals: ArrivalSource
    scheduler: Scheduler
    recorder: Recorder
    interrupt: Interrupt
