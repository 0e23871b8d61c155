"""What the recorder makes of steps that a replay alone does not bring about."""

from engine import Batch, Ended, Limits, Scheduler, StepResult, VllmPolicy
from sim.arrivals import Arrival
from sim.decision_digest import DecisionDigest
from sim.prompt_maker import PromptMaker
from sim.recorder import STEPS_PER_WRITE, Recorder
from sim.step_record import StepRecord
from tests.sim.small_world import BLOCK, Log, ask
from traces import TraceRequest


class _Session:
    """A scheduler and a recorder side by side, driven by hand; steps last a second."""

    def __init__(self, *requests: TraceRequest) -> None:
        self.log = Log()
        self.progress: list[tuple[int, float]] = []
        limits = Limits(block_size=BLOCK, max_num_batched_tokens=64, max_num_seqs=8, max_model_len=1024)
        self.scheduler = Scheduler(limits, 16, VllmPolicy())
        self.recorder = Recorder(
            self.log, BLOCK, DecisionDigest(), lambda num, now_s: self.progress.append((num, now_s))
        )
        self.now_s = 0.0
        for position, request in enumerate(requests):
            self.recorder.arrive(Arrival(0.0, request.line, position, request), 0.0)
            self.scheduler.add(PromptMaker(BLOCK, 0, {}).request(request))

    def step(self, *, abort_during: str | None = None, ended: tuple[Ended, ...] = (), lasts_s: float = 1.0) -> Batch:
        """One step; `ended` are requests that the caller has ended since the step before."""
        batch = self.scheduler.schedule()
        used = self.scheduler.block_manager.num_used
        aborted = self.scheduler.abort(abort_during) if abort_during else None
        result = StepResult(tuple(range(batch.shape.num_sampled)), lasts_s, lasts_s)
        ended += ((aborted,) if aborted else ()) + self.scheduler.update(batch, result)
        start_s, self.now_s = self.now_s, self.now_s + lasts_s
        counts = (self.scheduler.num_waiting, self.scheduler.num_running, used)
        self.recorder.step(StepRecord(batch, result, ended, start_s, self.now_s, *counts))
        return batch

    def finish(self) -> Log:
        self.recorder.finish([])
        return self.log


def test_request_aborted_while_a_step_runs_gets_no_token_of_it() -> None:
    session = _Session(ask("a", output=3), ask("b", output=9, line=2))
    session.step()
    session.step(abort_during="b")
    session.step()
    log = session.finish()

    assert log.events_of("aborted", "finished") == [(1, "b", "aborted", "abort"), (2, "a", "finished", "length")]
    assert log.emissions == {"a": [(0, 3)], "b": [(0, 1)]}
    row = log.requests["b"]
    assert (row.status, row.reason, row.output_tokens) == ("aborted", "abort", 1)
    assert (row.last_token_s, row.finish_s) == (1.0, 2.0)


def test_request_aborted_between_steps_keeps_its_tokens() -> None:
    session = _Session(ask("a", output=3), ask("b", output=9, line=2))
    session.step()
    session.step()
    aborted = session.scheduler.abort("b")
    assert aborted is not None
    session.step(ended=(aborted,))
    log = session.finish()

    assert log.emissions == {"a": [(0, 3)], "b": [(0, 2)]}
    assert (log.requests["b"].status, log.requests["b"].output_tokens) == ("aborted", 2)
    assert log.events_of("aborted") == [(2, "b", "aborted", "abort")]


def test_request_aborted_while_it_waits_has_no_stamps() -> None:
    session = _Session(ask("a", output=2))
    session.step()
    waiting = ask("w", line=2)
    session.recorder.arrive(Arrival(0.5, 2, 1, waiting), 1.0)
    session.scheduler.add(PromptMaker(BLOCK, 0, {}).request(waiting))
    aborted = session.scheduler.abort("w")
    assert aborted is not None
    session.step(ended=(aborted,))

    row = session.finish().requests["w"]

    assert (row.status, row.arrival_s, row.submit_s, row.finish_s) == ("aborted", 0.5, 1.0, 2.0)
    assert (row.first_scheduled_s, row.first_token_s, row.last_token_s, row.output_tokens) == (None, None, None, 0)


def test_rows_are_handed_on_every_hundred_steps_with_progress() -> None:
    session = _Session(ask("short", output=1), ask("long", output=STEPS_PER_WRITE + 5, line=2))
    for _ in range(STEPS_PER_WRITE - 1):
        session.step()
    assert session.log.step_rows == []
    session.step()

    assert len(session.log.step_rows) == STEPS_PER_WRITE
    assert list(session.log.requests) == ["short"]
    assert session.progress == [(1, float(STEPS_PER_WRITE))]


def test_device_is_never_busy_for_longer_than_the_step_lasts() -> None:
    """The step's length was rounded to the time quantum, down; the device's would be rounded up."""
    session = _Session(ask("a", output=2))
    session.step(lasts_s=1.5)
    batch = session.scheduler.schedule()
    result = StepResult((0,), 1.0, 1.0 + 2**-29)
    ended = session.scheduler.update(batch, result)
    session.recorder.step(StepRecord(batch, result, ended, 1.5, 2.5, 0, 0, 2))

    row = session.finish().step_rows[1]

    assert (row.duration_s, row.device_s, row.host_s) == (1.0, 1.0, 0.0)


def test_first_admission_and_resumption_name_only_blocks_that_are_new() -> None:
    session = _Session(
        ask("a", prompt=9, output=1, hash_ids=(1, 2, 3)), ask("b", prompt=13, output=1, hash_ids=(1, 2, 5, 6), line=2)
    )
    session.step()

    assert session.finish().events_of("blocks") == [(0, "a", "blocks", (0, 1, 2)), (0, "b", "blocks", (3, 4))]
