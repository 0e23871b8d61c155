"""Arrivals of a sweep: one load after the other, step by step."""

from collections.abc import Callable, Iterator, Sequence

from sim.arrivals import Arrival
from sim.interrupt import Interrupt
from sim.profiling.load import Chunk, Load
from sim.profiling.time_shares import TimeShares
from traces import TraceRequest

_DOCUMENT = 1 << 40
"""First content id of the text that prompts find in the cache."""


class LoadScript:
    """Satisfies `sim.arrival_source.ArrivalSource`; is asked once a step, so it counts the steps.

    Args:
        loads: what to run, in order.
        block_size: tokens in a KV block, and of one content id.
        max_seconds: wall time for all of them; loads are left out evenly to keep to it, and the sweep is broken off
            after it, within a load if need be.
        interrupt: how it is broken off.
        clock: wall time, in seconds.
        on_load: called with the number of each load before it begins.

    Attributes:
        load: number of the load that runs.
        step: of the load; its set-up is step 0.
        skipped: numbers of loads that were not begun, for lack of time.
    """

    def __init__(
        self,
        loads: Sequence[Load],
        block_size: int,
        max_seconds: float,
        interrupt: Interrupt,
        clock: Callable[[], float],
        on_load: Callable[[int], None] = lambda _: None,
    ) -> None:
        self._loads = loads
        self._block_size = block_size
        self._max_seconds = max_seconds
        self._interrupt = interrupt
        self._clock = clock
        self._on_load = on_load
        self._started = clock()
        self._shares = TimeShares(loads, max_seconds)
        self._begun_s = 0.0
        self._coming: tuple[tuple[TraceRequest, ...], ...] = ((),)
        self._num_live = 0
        self._is_over = False
        self.load = -1
        self.step = 0
        self.skipped: list[int] = []

    @property
    def next_s(self) -> float | None:
        """0.0, so that it is asked at every step, until all loads have run."""
        return None if self._is_over else 0.0

    @property
    def elapsed_s(self) -> float:
        """Wall time since the sweep began."""
        return self._clock() - self._started

    def due(self, now_s: float) -> Iterator[Arrival]:
        """What comes before the next step."""
        self.step += 1
        if self.step >= len(self._coming) and not self._num_live:
            self._begin_next()
        elif self.elapsed_s > self._max_seconds:
            self._interrupt.is_requested = True
        if self.step < len(self._coming):
            for request in self._coming[self.step]:
                self._num_live += 1
                yield Arrival(now_s, request.line, request.line, request)

    def release(self, request_id: str, ended_s: float) -> None:
        """One request less."""
        self._num_live -= 1

    def _begin_next(self) -> None:
        begun_s, self._begun_s = self._begun_s, self.elapsed_s
        if self.load >= 0:
            self._shares.spend(self.load, self._begun_s - begun_s)
        self.step = 0
        self.load += 1
        while 0 < self.load < len(self._loads) and self._shares.is_late(self.load):
            self.skipped.append(self.load)
            self.load += 1
        if self.load == len(self._loads):
            self._is_over, self._coming = True, ()
            return
        self._on_load(self.load)
        self._coming = self._requests(self._loads[self.load])

    def _requests(self, load: Load) -> tuple[tuple[TraceRequest, ...], ...]:
        standing = [
            Chunk(each.num_tokens - each.num_shared, each.num_shared, each.num_outputs) for each in load.standing
        ]
        if load.num_cached:
            standing.append(Chunk(0, load.num_cached))  # leaves the text in the cache, for others to find
        coming, line = [], 0
        for chunks in (standing, *load.arrivals):
            coming.append(tuple([self._request(chunk, line + i) for i, chunk in enumerate(chunks)]))
            line += len(chunks)
        return tuple(coming)

    def _request(self, chunk: Chunk, line: int) -> TraceRequest:
        # One more token than the cached ones, as a prompt is never found whole.
        num_tokens = chunk.num_cached + (chunk.num_tokens or 1)
        num_ids = chunk.num_cached // self._block_size
        return TraceRequest(
            request_id=f"{self.load}-{line}",
            line=line,
            input_length=num_tokens,
            output_length=chunk.num_outputs,
            arrival_s=0.0,
            hash_ids=tuple(range(_DOCUMENT, _DOCUMENT + num_ids)) if num_ids else None,
        )
