"""Replays a run on its own step times and compares everything that it decided."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass

from analysis.run import Run
from engine import Scheduler
from sim.arrivals import Arrivals
from sim.client_record import refuse_client_record
from sim.decision_digest import DecisionDigest
from sim.difference import Difference
from sim.interrupt import Interrupt
from sim.parts import Parts
from sim.policy_fault import policy_faults
from sim.prompt_maker import PromptMaker
from sim.recorded_engine import recorded_parts, recorded_token_ids
from sim.recorded_steps import RecordedSteps
from sim.recorded_trace import recorded_trace
from sim.recorder import OnProgress, Recorder
from sim.replica import Replica
from sim.request_check import check_requests
from sim.row_check import RowCheck
from sim.serving import Serving
from traces import Trace

ProgressBar = Callable[[int], AbstractContextManager[OnProgress]]


@dataclass(frozen=True, slots=True)
class Verification:
    """What came of it. Made by `verify`.

    Attributes:
        num_steps: steps that are equal, from the first one on.
        num_preemptions: preemptions in them.
        num_hit_tokens: prompt tokens hit in them, at first admissions.
        difference: the first one; None if there is none.
        notes: sentences on what could not be compared.
    """

    num_steps: int
    num_preemptions: int
    num_hit_tokens: int
    difference: Difference | None
    notes: tuple[str, ...]

    def render(self) -> str:
        """Lines of text for a person."""
        counts = f"{self.num_steps} steps, {self.num_preemptions} preemptions, {self.num_hit_tokens} hit tokens"
        text = f"identical: {counts}\n" if self.difference is None else self.difference.render()
        return text + "".join(f"  note: {note}\n" for note in self.notes)


def verify(run: Run, progress_bar: ProgressBar) -> Verification:
    """Give a run's trace to the scheduler again, with the times, failures and outputs that the run has recorded.

    Every step's shape, times, counts and events are compared as they come, and in the end every request and the digest
    over all decisions. A partial run is compared as far as it got.

    Args:
        run: complete or not, of any backend.
        progress_bar: called with the number of requests; gives what to call with (requests ended, clock).

    Raises:
        RunError: its tables are damaged.
        TraceError: its trace is missing or damaged.
        SheetError: its model is not known, and it has not recorded what is needed of it.
        ModelError: its tokenizer is broken.
        SimError: its settings, policy, trace or outputs do not suffice to repeat it.
    """
    refuse_client_record(run, "decisions", "name a run of sim replay")
    steps = RecordedSteps.of(run)
    trace, has_lines = recorded_trace(run)
    parts = recorded_parts(run, steps)
    interrupt, digest = Interrupt(), DecisionDigest()
    check = RowCheck(run, len(steps), interrupt)
    with policy_faults(parts.settings.policy), progress_bar(trace.num_requests) as on_progress:
        recorder = Recorder(check, parts.limits.block_size, digest, on_progress, steps_per_write=1)
        _serve(run, trace, parts, recorder, interrupt)
    check.finish()
    difference = check.difference or check_requests(run, check.requests, has_lines) or _digest_difference(run, digest)
    notes = tuple(_notes(run, check, has_lines))
    return Verification(check.num_steps, check.num_preemptions, check.num_hit_tokens, difference, notes)


def _serve(run: Run, trace: Trace, parts: Parts, recorder: Recorder, interrupt: Interrupt) -> None:
    engine, environment = parts.engine, parts.pace.environment
    arrivals = Arrivals(trace.requests)
    scheduler = Scheduler(parts.limits, engine.backend.num_blocks, parts.policy)
    serving = Serving(environment, arrivals, scheduler, recorder, interrupt)
    prompts = PromptMaker(trace.block_size, parts.settings.seed, recorded_token_ids(run, trace))
    replica = Replica(serving, parts.pace, prompts, engine.stepper(serving), engine.step_clock)
    environment.run(environment.process(replica.serve()))
    recorder.finish(arrivals.left())


def _digest_difference(run: Run, digest: DecisionDigest) -> Difference | None:
    """Of all that is decided, the order of a step's rows is in no table, but in the digest."""
    recorded = (run.summary or {}).get("decision_digest")
    if recorded is None or recorded == digest.hexdigest():
        return None
    sentence = f"it is {recorded} in the run and {digest.hexdigest()} in the simulator, though all tables are equal"
    return Difference("the decision digest", (sentence,))


def _notes(run: Run, check: RowCheck, has_lines: bool) -> Iterator[str]:
    if not run.is_complete:
        yield "the run is partial: it was stopped before its end, and what it recorded until then was compared"
    elif (run.summary or {}).get("decision_digest") is None:
        yield "it has no decision_digest in a summary.json: in what order the rows of a step stood was not compared"
    if check.has_lost_events:
        yield "it was killed while it wrote: of its last steps no events are there to compare"
    if not has_lines:
        yield "it does not hold the lines of its trace file: turns that come at one instant are taken in trace order"
    if run.meta["settings"].get("free_run") and not run.is_complete:
        yield "outputs of requests that had not ended are not known: they count as like no other's"
