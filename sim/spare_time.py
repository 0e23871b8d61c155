"""The time in which the host would only wait for the device."""

from collections.abc import Callable
from typing import Protocol

Work = Callable[[], None]


class SpareTime(Protocol):
    """Takes work that has no hurry."""

    def put(self, work: Work) -> None:
        """Have something done, by the next call of `put` or `use` at the latest, in order; it may be called again."""
        ...

    def use(self) -> None:
        """Do what is left to do."""
        ...


class NoSpareTime:
    """Does all work at once: nobody waits."""

    def put(self, work: Work) -> None:
        """Do it."""
        work()

    def use(self) -> None:
        """Nothing is left."""


class DeviceTime:
    """Keeps one piece of work until a backend that has launched a step calls `use`.

    Writing down step k then costs nothing: the device is busy with step k + 1.

        device    | step k        |          | step k + 1    |
        host      | put off k - 1 | update k | put off k     | update k + 1

    Args:
        always: done at each `use`, when nothing else is left.
    """

    def __init__(self, always: Work = lambda: None) -> None:
        """Start with nothing to do."""
        self._always = always
        self._work: Work | None = None

    def put(self, work: Work) -> None:
        """Keep it; what was kept before is done now."""
        before, self._work = self._work, work
        if before is not None:
            before()

    def use(self) -> None:
        """Do what is kept; if a signal breaks in, it is still kept, even if done: work must bear to be called again."""
        if self._work is not None:
            self._work()
            self._work = None
        self._always()
