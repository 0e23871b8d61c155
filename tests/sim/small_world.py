"""A replica in a small world: blocks of 4 tokens, steps of constant length, and a log to compare with literals."""

from collections.abc import Mapping, Sequence
from typing import Any

from analysis.rows import EventRow, RequestRow, StepRow
from engine import BackendError, Batch, Limits, Policy, Scheduler, StepResult, VllmPolicy
from sim.arrivals import Arrivals
from sim.decision_digest import DecisionDigest
from sim.interrupt import Interrupt
from sim.one_by_one import OneByOne
from sim.pace import VirtualPace
from sim.prompt_maker import PromptMaker
from sim.recorder import Recorder
from sim.replica import Replica
from sim.serving import Serving
from sim.spare_time import NoSpareTime, SpareTime
from sim.step_clock import PredictedClock
from traces import TraceRequest

BLOCK = 4


def ask(
    request_id: str,
    arrival_s: float | None = 0.0,
    *,
    prompt: int = 4,
    output: int = 2,
    line: int = 1,
    session: str | None = None,
    delay_s: float | None = None,
    hash_ids: tuple[int, ...] | None = None,
    priority: int = 0,
) -> TraceRequest:
    """A row of a trace; with `delay_s` it is a later turn of its session."""
    return TraceRequest(
        request_id=request_id,
        line=line,
        input_length=prompt,
        output_length=output,
        arrival_s=None if delay_s is not None else arrival_s,
        delay_s=delay_s,
        session_id=session,
        priority=priority,
        hash_ids=hash_ids,
    )


class ScriptedBackend:
    """Steps of a second, or of given lengths in turn; rows that fail, and steps that cannot be executed, by number."""

    def __init__(
        self,
        durations_s: Sequence[float] = (1.0,),
        *,
        failed: Mapping[int, Mapping[str, str]] | None = None,
        errors: Mapping[int, str] | None = None,
    ) -> None:
        self.num_blocks = 0  # the world says how many
        self.batches: list[Batch] = []
        self._durations_s = durations_s
        self._failed = failed or {}
        self._errors = errors or {}

    def execute(self, batch: Batch) -> StepResult:
        assert len(batch), "an empty batch never reaches a backend"
        self.batches.append(batch)
        if batch.step in self._errors:
            raise BackendError(self._errors[batch.step])
        tokens = tuple(range(batch.shape.num_sampled))
        duration_s = self._durations_s[batch.step % len(self._durations_s)]
        return StepResult(tokens, duration_s, duration_s / 2, failed=self._failed.get(batch.step, {}))

    def close(self) -> None:
        pass


class Log:
    """Takes the rows of a run; `events` without the columns that are empty."""

    def __init__(self) -> None:
        self.step_rows: list[StepRow] = []
        self.event_rows: list[EventRow] = []
        self.request_rows: list[RequestRow] = []
        self.digest = ""

    def add_step_columns(self, columns: Sequence[Sequence[Any]]) -> None:
        self.step_rows += map(StepRow._make, zip(*columns, strict=True))

    def add_events(self, rows: Sequence[EventRow]) -> None:
        self.event_rows += rows

    def add_requests(self, rows: Sequence[RequestRow]) -> None:
        self.request_rows += rows

    @property
    def steps(self) -> list[tuple[float, float]]:
        """(start, duration) of each step."""
        return [(row.start_s, row.duration_s) for row in self.step_rows]

    @property
    def events(self) -> list[tuple[Any, ...]]:
        """(step, request, kind, and its one value if it has one)."""
        return [tuple(value for value in row if value is not None) for row in self.event_rows]

    def events_of(self, *kinds: str) -> list[tuple[Any, ...]]:
        return [event for event in self.events if event[2] in kinds]

    @property
    def requests(self) -> dict[str, RequestRow]:
        rows = {row.request_id: row for row in self.request_rows}
        assert len(rows) == len(self.request_rows), "a request has two rows"
        return rows

    def of(self, name: str) -> dict[str, Any]:
        """One column by request, in trace order."""
        rows = sorted(self.request_rows, key=lambda row: row.index)
        return {row.request_id: getattr(row, name) for row in rows}

    @property
    def emissions(self) -> dict[str, list[tuple[int, int]]]:
        """Runs (first step, count) by request, in trace order."""
        firsts, counts = self.of("emission_first_steps"), self.of("emission_counts")
        return {name: list(zip(firsts[name], counts[name], strict=True)) for name in firsts}


def serve(
    requests: Sequence[TraceRequest],
    *,
    num_blocks: int = 16,
    tokens: int = 64,
    seqs: int = 8,
    model_len: int = 1024,
    policy: Policy | None = None,
    backend: ScriptedBackend | None = None,
    interrupt: Interrupt | None = None,
    seed: int = 0,
    spare_time: SpareTime | None = None,
) -> Log:
    """Serve requests, which stand in trace order, and return what was recorded."""
    limits = Limits(block_size=BLOCK, max_num_batched_tokens=tokens, max_num_seqs=seqs, max_model_len=model_len)
    log, digest, pace, arrivals = Log(), DecisionDigest(), VirtualPace(), Arrivals(requests)
    recorder = Recorder(log, BLOCK, digest, lambda _, __: None)
    scheduler, clock = Scheduler(limits, num_blocks, policy or VllmPolicy()), PredictedClock()
    serving = Serving(pace.environment, arrivals, scheduler, recorder, interrupt or Interrupt())
    spare_time = spare_time or NoSpareTime()
    stepper = OneByOne(serving, backend or ScriptedBackend(), clock, spare_time)
    replica = Replica(serving, pace, PromptMaker(BLOCK, seed, {}), stepper, clock)
    pace.environment.run(pace.environment.process(replica.serve()))
    spare_time.use()
    recorder.finish(arrivals.left())
    log.digest = digest.hexdigest()
    return log


def check_stamps(log: Log, name: str, **stamps: object) -> None:
    """Compare some columns of a request's row."""
    row = log.requests[name]._asdict()
    assert {key: row[key] for key in stamps} == stamps
