"""Makes a run directory of the result of `vllm bench serve`."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from analysis.client_steps import ClientSteps
from analysis.rows import RequestRow
from analysis.run import load
from analysis.run_writer import RunWriter
from analysis.summary import summarise
from analysis.vllm_result import VllmRequest, VllmResult
from analysis.vllm_times import RequestTimes, request_times
from traces import Trace, TraceRequest, write_trace

_STEPS_AT_A_TIME = 10_000
_TOLERANCE = 0.01


@dataclass(frozen=True, slots=True)
class ImportedRun:
    """What was made. Made by `import_vllm`.

    Attributes:
        path: the run directory.
        summary: its `summary.json`.
        notices: sentences on what was decided and what is not known.
        has_trace: whether its trace could be written, so that the same requests can be replayed.
    """

    path: Path
    summary: dict[str, Any]
    notices: tuple[str, ...]
    has_trace: bool


def import_vllm(result_path: Path, output: Path) -> ImportedRun:
    """Makes a run directory; reports and comparisons read it like any other.

    Args:
        result_path: file written with `--save-result --save-detailed`.
        output: the directory to make.

    Raises:
        RunError: the file is no such result, or the directory cannot be made.
    """
    result = VllmResult.read(result_path)
    times = request_times(result, str(result_path))
    has_arrivals = result.has_start_times or result.is_all_at_once
    trace = _trace(result, times, result_path.name) if has_arrivals else None
    notices = (*_notices(result, times, has_arrivals),)
    writer = RunWriter(output, _meta(result, result_path.name, trace, notices, has_arrivals))
    if trace is not None:
        write_trace(trace, writer.trace_path)
    _write_rows(writer, result, times)
    writer.flush()
    summary = summarise(load(output), complete=True)
    writer.finish(summary, complete=True)
    return ImportedRun(output, summary, (*notices, *_contradictions(result, summary)), trace is not None)


def _write_rows(writer: RunWriter, result: VllmResult, times: Sequence[RequestTimes]) -> None:
    steps = ClientSteps([each.chunks for each in times])
    rows = steps.rows()
    while piece := list(islice(rows, _STEPS_AT_A_TIME)):
        writer.add_steps(piece)
    for index, row in enumerate(_order(times)):
        writer.add_requests([_request_row(index, row, result.requests[row], times[row], steps)])


def _order(times: Sequence[RequestTimes]) -> list[int]:
    """Places in the file by arrival; those that have none come last."""
    arrivals = [math.inf if each.arrival_s is None else each.arrival_s for each in times]
    return sorted(range(len(times)), key=lambda row: (arrivals[row], row))


def _request_row(index: int, row: int, request: VllmRequest, times: RequestTimes, steps: ClientSteps) -> RequestRow:
    first_steps, counts = steps.runs(times.chunks)
    is_finished = request.error is None
    return RequestRow(
        index=index,
        request_id=f"r{row}",
        session_id=None,
        line=row + 1,
        priority=0,
        input_tokens=request.input_tokens,
        requested_output_tokens=max(1, request.output_tokens),
        output_tokens=request.output_tokens if is_finished else 0,
        arrival_s=times.arrival_s,
        submit_s=times.submit_s,
        first_scheduled_s=None,
        first_token_s=times.first_s,
        last_token_s=times.last_s,
        finish_s=times.end_s,
        status="finished" if is_finished else "failed",
        reason=request.error,
        hit_tokens=0,
        reprefill_tokens=0,
        num_preemptions=0,
        preempted_s=0.0,
        emission_first_steps=first_steps,
        emission_counts=counts,
    )


def _trace(result: VllmResult, times: Sequence[RequestTimes], name: str) -> Trace:
    requests = [
        TraceRequest(
            request_id=f"r{row}",
            line=row + 1,
            input_length=result.requests[row].input_tokens,
            output_length=max(1, result.requests[row].output_tokens),
            arrival_s=times[row].arrival_s,
        )
        for row in _order(times)
        if times[row].arrival_s is not None
    ]
    return Trace(name=name, requests=tuple(requests))


def _meta(
    result: VllmResult, name: str, trace: Trace | None, notices: Sequence[str], has_arrivals: bool
) -> dict[str, Any]:
    totals = {key: _plain(value) for key, value in result.totals.items()}
    return {
        "num_kv_blocks": None,
        "observed_by": "client",
        "has_arrivals": has_arrivals,
        "duration_s": _duration_s(totals),
        "request_rate": totals.get("request_rate"),
        "max_concurrency": totals.get("max_concurrency"),
        "settings": {"backend": "vllm", "model": totals.get("model_id")},
        "trace": {
            "name": name,
            "digest": trace.digest if trace else None,
            "num_requests": len(result.requests),
            "notices": notices,
        },
        "result": totals,
    }


def _duration_s(totals: dict[str, Any]) -> float | None:
    value = totals.get("duration")
    if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0:
        return float(value)
    return None


def _plain(value: Any) -> Any:  # noqa: ANN401  # whatever a JSON file holds
    """Python's reader takes NaN and infinity, which JSON does not have."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list) else value


def _notices(result: VllmResult, times: Sequence[RequestTimes], has_arrivals: bool) -> Iterator[str]:
    yield "A client has seen no steps, queue, KV blocks, prefix hits or preemptions: figures of these are missing."
    yield from _arrival_notices(result, times, has_arrivals)
    yield from _chunk_notices(result)
    num_failed = sum(request.error is not None for request in result.requests)
    if num_failed:
        yield (
            f"Requests that failed ({num_failed}) count as ended when they were last heard of; how many tokens they "
            "asked for is not recorded, so the trace asks for as many as came, or for 1."
        )
    if result.has_texts:
        yield "The texts of the answers were left out."


def _arrival_notices(result: VllmResult, times: Sequence[RequestTimes], has_arrivals: bool) -> Iterator[str]:
    if not has_arrivals:
        yield (
            "The file has no start_times (vLLM writes them since January 2026) and requests were not sent all at once: "
            "arrivals are not known. Latencies are those of the file; concurrency, peaks, a steady state and a trace "
            "to replay cannot be had."
        )
    elif not result.has_start_times:
        yield "The file has no start_times, but all requests were sent at once (request_rate inf): they arrive at 0 s."
    held_s = max(request.queue_s for request in result.requests)
    if held_s > 0:
        yield f"The client held requests back, for up to {held_s:.3f} s; TTFT and E2E count from when they were due."
    elif result.totals.get("max_concurrency") is not None:
        yield "The client held requests back (max_concurrency); for how long is not recorded, and not in any latency."
    num_unknown = sum(each.arrival_s is None for each in times)
    if has_arrivals and num_unknown:
        yield f"Requests that failed before they were sent ({num_unknown}) are not in the trace."


def _chunk_notices(result: VllmResult) -> Iterator[str]:
    good = [request for request in result.requests if request.error is None]
    num_chunks = np.array([1 + len(request.itls_s) for request in good])
    num_tokens = np.array([request.output_tokens for request in good])
    more, fewer = int((num_tokens > num_chunks).sum()), int((num_tokens < num_chunks).sum())
    if more:
        yield f"More tokens than chunks ({more} requests): tokens are spread evenly over chunks, and ITL counts zeros."
    if fewer:
        yield f"Fewer tokens than chunks ({fewer} requests): some chunks between the first and the last count none."


def _contradictions(result: VllmResult, summary: dict[str, Any]) -> Iterator[str]:
    """Figures of the file that its own lists do not bear out."""
    pairs = {"completed": summary["completed"], "total_output_tokens": summary["total_output_tokens"]}
    if not any(request.queue_s for request in result.requests):
        pairs |= {name: summary[name] for name in ("mean_ttft_ms", "mean_tpot_ms", "mean_e2el_ms")}
    for name, own in pairs.items():
        stated = result.totals.get(name)
        if isinstance(stated, int | float) and own is not None and abs(stated - own) > _TOLERANCE * abs(stated):
            yield f"The file says {name} is {stated:g}, but its lists give {own:g}."
