"""What `LLM.generate` shows while it works."""

import time
from collections.abc import Callable
from typing import TextIO

from engine.step_shape import StepShape

_INTERVAL_S = 0.25


class ProgressLine:
    """One line on a terminal: requests ended, and tokens a second, prefilled and decoded, since the line before.

    As in `StepShape`, a row of one token is a decode and any other a prefill. A step with both counts for both, so the
    two rates add up to all tokens that were computed. The last line has the averages of the whole.

    Args:
        num_requests: how many there are.
        num_ended: how many of them have ended by now.
        stream: where to write; nothing is written unless it is a terminal.
        clock: seconds from any start.
    """

    def __init__(
        self,
        num_requests: int,
        num_ended: Callable[[], int],
        stream: TextIO,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._num_requests = num_requests
        self._num_ended = num_ended
        self._stream = stream
        self._is_shown = stream.isatty() and num_requests > 0
        self._clock = clock
        self._start_s = self._since_s = clock()
        self._prefilled = self._decoded = 0  # since the line before
        self._all_prefilled = self._all_decoded = 0
        self._width = 0

    def note(self, shape: StepShape) -> None:
        """Count a step that was computed; writes now and then."""
        if not self._is_shown:
            return
        self._count(shape)
        now_s = self._clock()
        if now_s - self._since_s >= _INTERVAL_S:
            self._write(self._prefilled, self._decoded, now_s - self._since_s, "")
            self._prefilled = self._decoded = 0
            self._since_s = now_s

    def close(self) -> None:
        """Write the last line and leave it there."""
        if self._is_shown:
            self._write(self._all_prefilled, self._all_decoded, self._clock() - self._start_s, "\n")

    def _count(self, shape: StepShape) -> None:
        self._prefilled += shape.num_prefill_tokens
        self._all_prefilled += shape.num_prefill_tokens
        self._decoded += shape.num_decode_seqs
        self._all_decoded += shape.num_decode_seqs

    def _write(self, prefilled: int, decoded: int, elapsed_s: float, end: str) -> None:
        elapsed_s = max(elapsed_s, 1e-9)
        line = (
            f"{self._num_ended()}/{self._num_requests} requests, prefill {prefilled / elapsed_s:,.0f} tok/s, "
            f"decode {decoded / elapsed_s:,.0f} tok/s"
        )
        self._stream.write(f"\r{line:<{self._width}}{end}")
        self._stream.flush()
        self._width = len(line)
