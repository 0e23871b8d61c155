"""Drives a scheduler step by step and writes down what it decided, as plain values to compare with literals."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from engine import Batch, Ended, Limits, Policy, Prompt, Request, SamplingParams, Scheduler, StepResult, TokenPrompt


def output_token(position: int) -> int:
    """The token that every backend of these tests puts at `position`; no prompt of them uses such large ids."""
    return 1000 + position


def result_of(batch: Batch, failed: Mapping[str, str] | None = None) -> StepResult:
    """A token for each sampling row, no time spent."""
    columns = zip(batch.first_positions, batch.num_tokens, batch.samples, strict=True)
    tokens = tuple(output_token(first + count) for first, count, samples in columns if samples)
    return StepResult(tokens, duration_s=0.0, device_s=0.0, failed=failed or {})


def limits(
    *, block_size: int = 4, max_num_batched_tokens: int = 64, max_num_seqs: int = 8, max_model_len: int = 1024
) -> Limits:
    """Limits of a small universe."""
    return Limits(
        block_size=block_size,
        max_num_batched_tokens=max_num_batched_tokens,
        max_num_seqs=max_num_seqs,
        max_model_len=max_model_len,
    )


def request(
    request_id: str,
    prompt: Prompt | Iterable[int] | int,
    max_tokens: int = 1,
    priority: int = 0,
    *,
    stop_token_ids: frozenset[int] = frozenset(),
    ignore_eos: bool = False,
) -> Request:
    """A request; a prompt given as a number has that many tokens that no other request id has."""
    if isinstance(prompt, int):
        prompt = TokenPrompt([*request_id.encode(), *range(prompt)][:prompt])
    elif isinstance(prompt, Iterable):
        prompt = TokenPrompt(tuple(prompt))
    params = SamplingParams(max_tokens=max_tokens, stop_token_ids=stop_token_ids, ignore_eos=ignore_eos)
    return Request(request_id, prompt, params, priority)


class Step(NamedTuple):
    """One step: rows as (id, tokens), admissions as (id, hit tokens), the rest as ids; `free` is after `schedule`."""

    rows: list[tuple[str, int]]
    admitted: list[tuple[str, int]]
    preempted: list[str]
    ended: list[tuple[str, str]]
    free: int


class Driver:
    """A scheduler with a backend that always succeeds."""

    def __init__(self, policy: Policy, limits: Limits, num_blocks: int) -> None:
        """Start idle."""
        self.scheduler = Scheduler(limits, num_blocks, policy)
        self.batches: list[Batch] = []
        self.ended: dict[str, Ended] = {}

    def add(self, *requests: Request) -> None:
        """Queue requests."""
        for each in requests:
            self.scheduler.add(each)

    def step(self, failed: Mapping[str, str] | None = None, fail_first: bool = False) -> Step:
        """Schedule, execute and update once; `failed` rows, or the first one, are reported as such by the backend."""
        batch = self.scheduler.schedule()
        if fail_first:
            failed = dict.fromkeys(batch.request_ids[:1], "a failure")
        free = self.scheduler.block_manager.num_free
        ended = (*batch.ended, *(self.scheduler.update(batch, result_of(batch, failed)) if len(batch) else ()))
        self.batches.append(batch)
        for each in ended:
            assert each.request_id not in self.ended, f"{each.request_id} ended twice"
            self.ended[each.request_id] = each
        return Step(
            rows=list(zip(batch.request_ids, batch.num_tokens, strict=True)),
            admitted=[(admission.request_id, admission.num_hit_tokens) for admission in batch.admitted],
            preempted=list(batch.preempted),
            ended=[(each.request_id, each.reason) for each in ended],
            free=free,
        )

    def steps(self, count: int) -> list[Step]:
        """`count` steps."""
        return [self.step() for _ in range(count)]

    def run(self, max_steps: int = 10_000) -> Iterator[Step]:
        """Steps until everything has ended."""
        for _ in range(max_steps):
            if not self.scheduler.has_unfinished:
                return
            yield self.step()
        raise AssertionError(f"not done after {max_steps} steps")

    def finish(self, max_steps: int = 10_000) -> list[Step]:
        """All steps until everything has ended."""
        return list(self.run(max_steps))

    def table(self, request_id: str) -> list[int]:
        """Block table of the newest admission of a request, with what it grew by since."""
        blocks: list[int] = []
        for batch in self.batches:
            for admission in batch.admitted:
                if admission.request_id == request_id:
                    blocks = list(admission.block_table)
            blocks += [block for name, new in batch.new_blocks if name == request_id for block in new]
        return blocks

    @property
    def num_free(self) -> int:
        """Free blocks now."""
        return self.scheduler.block_manager.num_free
