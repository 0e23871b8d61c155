"""Builds small run directories for tests, from steps and requests given in a line each."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from analysis.rows import EventKind, EventRow, RequestRow, RequestStatus, StepRow
from analysis.run import Run, load
from analysis.run_writer import RunWriter

META: dict[str, Any] = {
    "num_kv_blocks": 100,
    "settings": {"max_num_seqs": 4, "max_num_batched_tokens": 64, "block_size": 16, "chunked_prefill": True},
    "trace": {"name": "tiny", "digest": "abc"},
    "seed": 0,
}


class RunBuilder:
    """Collects rows; `build` writes and loads the run. Steps last one second and follow each other unless told."""

    def __init__(self, path: Path, **meta: Any) -> None:
        self.path = path
        self.meta = META | meta
        self.steps: list[StepRow] = []
        self.events: list[EventRow] = []
        self.requests: list[RequestRow] = []

    def step(
        self,
        *,
        start_s: float | None = None,
        duration_s: float = 1.0,
        prefill: Sequence[int] = (),
        decode: int = 0,
        waiting: int = 0,
        running: int = 0,
        used: int = 0,
    ) -> int:
        """Adds a step; `prefill` are the tokens of each prefill row, `decode` is the number of decode rows."""
        if start_s is None:
            start_s = self.end_s(len(self.steps) - 1) if self.steps else 0.0
        row = StepRow(
            step=len(self.steps),
            start_s=start_s,
            duration_s=duration_s,
            host_s=duration_s / 4,
            device_s=duration_s * 3 / 4,
            graph_size=None if prefill else decode,
            num_prefill_tokens=sum(prefill),
            num_prefill_seqs=len(prefill),
            prefill_qk=sum(q * q for q in prefill),
            prefill_qq=sum(q * q for q in prefill),
            prefill_context=sum(prefill),
            max_query=max([*prefill, min(decode, 1)]),
            max_context=max([*prefill, min(decode, 1)]),
            num_decode_seqs=decode,
            decode_context=decode,
            decode_context_sq=decode,
            max_decode_context=min(decode, 1),
            shared_context=0,
            num_sampled=len(prefill) + decode,
            num_new_blocks=0,
            num_admitted=len(prefill),
            num_released=0,
            num_waiting=waiting,
            num_running=running,
            num_used_blocks=used,
        )
        self.steps.append(row)
        return row.step

    def end_s(self, step: int) -> float:
        return self.steps[step].start_s + self.steps[step].duration_s

    def event(self, step: int, request_id: str, kind: EventKind, **values: Any) -> None:
        self.events.append(EventRow(step, request_id, kind, **values))

    def request(
        self,
        request_id: str,
        *,
        arrival_s: float | None = 0.0,
        scheduled: int | None = None,
        emissions: Sequence[tuple[int, int]] = (),
        finish_s: float | None = None,
        status: RequestStatus = "finished",
        reason: str | None = None,
        input_tokens: int = 10,
        hit_tokens: int = 0,
        num_preemptions: int = 0,
        preempted_s: float = 0.0,
        session_id: str | None = None,
    ) -> None:
        """Adds a request; stamps follow from steps: `scheduled` ran it first, `emissions` are (first step, count)."""
        first_step = emissions[0][0] if emissions else None
        last_step = sum(emissions[-1]) - 1 if emissions else None
        last_s = None if last_step is None else self.end_s(last_step)
        num_tokens = sum(count for _, count in emissions)
        scheduled = first_step if scheduled is None else scheduled
        self.requests.append(
            RequestRow(
                index=len(self.requests),
                request_id=request_id,
                session_id=session_id,
                line=len(self.requests) + 1,
                priority=0,
                input_tokens=input_tokens,
                requested_output_tokens=max(num_tokens, 1),
                output_tokens=num_tokens,
                arrival_s=arrival_s,
                submit_s=arrival_s,
                first_scheduled_s=None if scheduled is None else self.steps[scheduled].start_s,
                first_token_s=None if first_step is None else self.end_s(first_step),
                last_token_s=last_s,
                finish_s=last_s if finish_s is None and status == "finished" else finish_s,
                status=status,
                reason="length" if status == "finished" else reason,
                hit_tokens=hit_tokens,
                reprefill_tokens=0,
                num_preemptions=num_preemptions,
                preempted_s=preempted_s,
                emission_first_steps=[first for first, _ in emissions],
                emission_counts=[count for _, count in emissions],
            )
        )

    def build(self, *, complete: bool = True, summary: dict[str, Any] | None = None) -> Run:
        """Writes the run and loads it again."""
        writer = RunWriter(self.path, self.meta)
        writer.add_steps(self.steps)
        writer.add_events(self.events)
        writer.add_requests(self.requests)
        writer.finish(summary or {}, complete)
        return load(self.path)


def small_run(path: Path, **meta: Any) -> RunBuilder:
    """Two requests and a refused one; b waits for a step, is preempted in step 2 and resumed in step 3.

    step        0    1    2         3    4
    clock   0    1    2         4    5    6
    tokens       a    a,b       a    b    b
    """
    run = RunBuilder(path, **meta)
    run.step(prefill=[10], waiting=1, running=1, used=10)
    run.step(prefill=[10], decode=1, running=2, used=20)
    run.step(decode=1, duration_s=2.0, waiting=1, used=15)
    run.step(prefill=[11], running=1, used=12)
    run.step(decode=1, used=12)
    run.event(0, "a", "admitted", num_tokens=0)
    run.event(0, "a", "blocks", block_ids=[0])
    run.event(0, "a", "chunk", num_tokens=10)
    run.event(1, "b", "admitted", num_tokens=4)
    run.event(1, "b", "blocks", block_ids=[1, 2])
    run.event(1, "b", "chunk", num_tokens=6)
    run.event(2, "b", "preempted")
    run.event(2, "a", "finished", reason="length")
    run.event(3, "b", "resumed", num_tokens=0)
    run.event(3, "b", "chunk", num_tokens=11)
    run.event(4, "b", "finished", reason="length")
    run.request("a", arrival_s=0.0, emissions=[(0, 3)])
    run.request("b", arrival_s=0.5, emissions=[(1, 1), (3, 2)], hit_tokens=4, num_preemptions=1, preempted_s=2.0)
    run.request("c", arrival_s=1.0, finish_s=1.0, status="refused", reason="prompt of 500 tokens is too long")
    return run
