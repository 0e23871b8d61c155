"""Runs our scheduler on a recorded workload and writes down the same fields that were recorded."""

from collections.abc import Callable, Iterator

from engine import Batch, Policy, Scheduler, StepResult
from tests.golden.case import Case, Json, output_token

Execute = Callable[[Batch], StepResult]


def replay(case: Case, policy: Policy, execute: Execute | None = None) -> Iterator[Json]:
    """Yield one line for each recorded step.

    Args:
        case: what to run.
        policy: how to schedule it.
        execute: computes a batch; without one every row gets the token that the recorded run had.
    """
    scheduler = Scheduler(case.limits, case.config["num_blocks"], policy)
    execute = execute or RecordedTokens(case)
    arrivals, phases = case.arrivals(), PhaseTracker()
    for step in range(len(case.golden) - 1):
        for request in arrivals.get(step, []):
            scheduler.add(request)
        line = _step(scheduler, execute, phases) if scheduler.has_unfinished else _idle_step(scheduler)
        # Mixed steps are neither prefill nor decode: that column is recorded for nano-vllm alone.
        yield {"step": step} | line | ({} if case.config["engine"] == "nano-vllm" else {"prefill": None})


class RecordedTokens:
    """Returns the tokens that the recorded run had."""

    def __init__(self, case: Case) -> None:
        """Number the requests of `case`."""
        self._index = {row["id"]: index for index, row in enumerate(case.workload)}
        self._num_prompt_tokens: dict[str, int] = {}

    def __call__(self, batch: Batch) -> StepResult:
        """Give each sampling row its next token."""
        for admission in batch.admitted:
            self._num_prompt_tokens[admission.request_id] = admission.prompt.num_tokens
        columns = zip(batch.request_ids, batch.first_positions, batch.num_tokens, batch.samples, strict=True)
        tokens = [
            output_token(self._index[name], first + count - self._num_prompt_tokens[name])
            for name, first, count, samples in columns
            if samples
        ]
        return StepResult(tuple(tokens), duration_s=0.0, device_s=0.0)


class PhaseTracker:
    """Tells prefill rows from decode rows: a sequence decodes once it has sampled since its last admission."""

    def __init__(self) -> None:
        """Start with nobody decoding."""
        self._decoding: set[str] = set()

    def is_prefill(self, batch: Batch) -> bool:
        """Whether any row of `batch` still computes its prompt (or, resumed, what it had before)."""
        self._decoding.difference_update(admission.request_id for admission in batch.admitted)
        has_prefill = not self._decoding.issuperset(batch.request_ids)
        rows = zip(batch.request_ids, batch.samples, strict=True)
        self._decoding.update(request_id for request_id, samples in rows if samples)
        return has_prefill


def _step(scheduler: Scheduler, execute: Execute, phases: PhaseTracker) -> Json:
    batch = scheduler.schedule()
    free_sched = scheduler.block_manager.num_free
    ended = scheduler.update(batch, execute(batch)) if len(batch) else ()
    return {
        "scheduled": [list(row) for row in zip(batch.request_ids, batch.num_tokens, strict=True)],
        "prefill": phases.is_prefill(batch),
        "preempted": list(batch.preempted),
        "admitted": [[admission.request_id, admission.num_hit_tokens] for admission in batch.admitted],
        "finished": [each.request_id for each in (*batch.ended, *ended)],
        "free_sched": free_sched,
        "free_blocks": scheduler.block_manager.num_free,
        "waiting": scheduler.num_waiting,
        "running": scheduler.num_running,
    }


def _idle_step(scheduler: Scheduler) -> Json:
    num_free = scheduler.block_manager.num_free
    nothing: Json = {name: [] for name in ("scheduled", "preempted", "admitted", "finished")}
    return {"prefill": None, "free_sched": num_free, "free_blocks": num_free, "waiting": 0, "running": 0} | nothing
