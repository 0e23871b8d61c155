"""Ctrl-C and termination, turned into a clean end."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Interrupt:
    """Remembers that the user wants the run to end; the serving loop looks after each step.

    Attributes:
        is_requested: whether the run shall end.
        is_idle: whether the loop only waits, so that it may be stopped at once.
        is_recording: whether a request or a step is being written down, which must not be left half done.
    """

    def __init__(self) -> None:
        """Start with nothing requested."""
        self.is_requested = False
        self.is_idle = False
        self.is_recording = False

    def request(self, _: int, __: FrameType | None) -> None:
        """Signal handler. A second signal, or one while the loop waits, does not wait for the step's end.

        While something is being written down no signal breaks in: the loop ends right behind it.

        Raises:
            KeyboardInterrupt: the loop must be left here.
        """
        if self.is_idle or (self.is_requested and not self.is_recording):
            raise KeyboardInterrupt
        self.is_requested = True

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Handle SIGINT and SIGTERM like this inside; only the main thread may enter."""
        signals = (signal.SIGINT, signal.SIGTERM)
        before = [signal.signal(each, self.request) for each in signals]
        try:
            yield
        finally:
            for each, handler in zip(signals, before, strict=True):
                signal.signal(each, handler)
