"""How the serving loop gets from one point of decision to the next."""

from collections.abc import Generator
from typing import Any, Protocol

import simpy

Process = Generator[simpy.Event, Any, None]


class Stepper(Protocol):
    """Takes steps: schedules, executes, waits and records."""

    def advance(self) -> Process:
        """Take the next step, or several between which nothing comes; something is unfinished.

        All that it does is done when it returns, and then the clock stands at the end of the last step.
        """
        ...
