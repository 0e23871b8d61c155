"""Replays a trace: from settings to a run directory."""

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean
from typing import Any

from analysis.run import load
from analysis.run_writer import RunWriter
from analysis.slo import Slo
from analysis.summary import summarise
from engine import Scheduler
from sim.arrivals import Arrivals
from sim.cost_source import CostSource
from sim.decision_digest import DecisionDigest
from sim.host_speed import HostSpeed
from sim.interrupt import Interrupt
from sim.output_log import NoLog, OutputLog
from sim.oversize import handle_oversize
from sim.own_rate import own_rate_sentence
from sim.parts import Parts
from sim.prompt_maker import PromptMaker
from sim.rare_collections import rare_collections
from sim.recorder import Recorder
from sim.replay_settings import ReplaySettings
from sim.replica import Replica
from sim.serving import Serving
from sim.versions import versions
from traces import ReadSettings, Trace, Window, read_trace, write_trace
from traces.errors import OwnTimesError
from traces.statistics.arrival_counts import ArrivalCounts
from traces.statistics.trace_warnings import spacing_warnings

OnProgress = Callable[[int, float], None]


def load_trace(path: Path, settings: ReplaySettings) -> Trace:
    """Read a trace and cut and scale it as the settings say.

    Raises:
        TraceError: the file is not a trace, or nothing of it is left.
    """
    read = ReadSettings(
        trace_block_size=settings.trace_block_size,
        time_unit=settings.time_unit,
        delay_rule=settings.delay_rule,
        api_time_scale=settings.api_time_scale,
        max_delay_s=settings.max_delay_s,
        request_rate=settings.request_rate,
        tokenizer=settings.tokenizer,
        columns=settings.columns,
        seed=settings.seed,
        window=Window(settings.start_s, settings.end_s, settings.limit),
    )
    trace = _read(path, read, settings.trace_format)
    trace = replace(trace, notices=(*trace.notices, *_spacing_notices(trace)))
    return trace.scaled(settings.rate_scale)


def _read(path: Path, settings: ReadSettings, trace_format: str) -> Trace:
    try:
        return read_trace(path, settings, format=trace_format)
    except OwnTimesError as error:
        assert settings.request_rate is not None, "only a request rate is refused so"
        recorded = read_trace(path, replace(settings, request_rate=None), format=trace_format)
        sentence = own_rate_sentence(recorded, settings.request_rate)
        raise error if sentence is None else OwnTimesError(sentence) from None


def _spacing_notices(trace: Trace) -> Iterator[str]:
    """What is odd about the gaps between arrivals; the reader has told of a doubtful rate itself."""
    arrivals = ArrivalCounts()
    for request in trace.requests:
        if request.arrival_s is not None:
            arrivals.add(request.arrival_s)
    return spacing_warnings(arrivals.summary())


def check_slo(settings: ReplaySettings) -> None:
    """Raise SloError if the objectives have no meaning."""
    if settings.slo is not None:
        Slo.parse(settings.slo)


def fit_trace(trace: Trace, parts: Parts) -> Trace:
    """Apply the rule for prompts that cannot be served; see `handle_oversize`."""
    longest = min(parts.limits.max_model_len - 1, parts.engine.backend.num_blocks * parts.limits.block_size)
    return handle_oversize(trace, longest, parts.settings.oversize)


def replay(
    trace: Trace,
    token_ids: Mapping[str, Sequence[int]],
    parts: Parts,
    output: Path,
    interrupt: Interrupt,
    on_progress: OnProgress,
) -> dict[str, Any]:
    """Replay a trace and write the run directory.

    Args:
        trace: what to replay.
        token_ids: of prompts whose tokens are known, by request id.
        parts: what to replay it on; the backend is closed at the end.
        output: the directory to make.
        interrupt: ends the run early when requested; what has happened until then is kept, marked as partial.
        on_progress: called with (requests ended, clock) now and then.

    Returns:
        The summary, as in `summary.json`.

    Raises:
        RunError: the directory cannot be made.
        RecordedStepsError: the recorded step times do not belong to these steps.
        BackendEndedError: the backend has ended; the directory holds what has happened until then, marked as partial.
    """
    engine = parts.engine
    scheduler = Scheduler(parts.limits, engine.backend.num_blocks, parts.policy)
    writer = RunWriter(output, meta_of(trace, parts))
    write_trace(trace, writer.trace_path)
    digest = DecisionDigest()
    arrivals = Arrivals(trace.requests)
    prompts = PromptMaker(trace.block_size, parts.settings.seed, token_ids)
    outputs = OutputLog(output / "outputs.jsonl", engine.tokenizer) if parts.settings.free_run else NoLog()
    wall_start = time.perf_counter()
    is_complete = False
    recorder = Recorder(writer, parts.limits.block_size, digest, on_progress, outputs.add)
    serving = Serving(parts.pace.environment, arrivals, scheduler, recorder, interrupt)
    replica = Replica(serving, parts.pace, prompts, engine.stepper(serving), engine.step_clock)
    try:
        is_complete = _run(parts, replica)
    finally:
        # A disk that is full must not keep the backend, which may be other processes on a GPU.
        with contextlib.closing(engine.backend), contextlib.closing(outputs):
            engine.spare_time.use()
            recorder.finish(arrivals.left())
        known = {"complete": is_complete, **_lag(recorder.lags_s), **_host_speed(engine.host_speed)}
        summary = _finish(writer, digest.hexdigest(), time.perf_counter() - wall_start, known, engine.cost)
    return summary


def _run(parts: Parts, replica: Replica) -> bool:
    """Serve; returns whether all work is done, which an interrupt in the last step does not change."""
    if parts.engine.host_speed is not None:
        parts.engine.host_speed.restart()
    parts.engine.step_clock.restart()
    parts.pace.start()
    environment = parts.pace.environment
    with contextlib.suppress(KeyboardInterrupt), rare_collections():
        environment.run(environment.process(replica.serve()))
        if replica.has_work:
            return False
        if parts.engine.cost is not None:
            parts.engine.cost.check_finished()
        return True
    return False


def _lag(lags_s: list[float]) -> dict[str, float | None]:
    """How far the clock was behind the wall when requests were taken; 0 where there is no wall to be behind."""
    return {"mean_lag_s": fmean(lags_s) if lags_s else None, "max_lag_s": max(lags_s, default=None)}


def _host_speed(host_speed: HostSpeed | None) -> dict[str, float | None]:
    """How quick the host was; None if it took no part."""
    return {"host_probe_us": None if host_speed is None else host_speed.probe_us}


def _finish(
    writer: RunWriter, digest: str, wall_s: float, known: dict[str, Any], cost: CostSource | None
) -> dict[str, Any]:
    writer.flush()
    run = load(writer.path)
    known = known | {"cost_model": cost.judged(run) if cost else None}
    summary = summarise(run, complete=known["complete"], wall_s=wall_s, decision_digest=digest) | known
    writer.finish(summary, known["complete"])
    return summary


def meta_of(trace: Trace, parts: Parts) -> dict[str, Any]:
    """The content of `meta.json`; see `analysis.schema.REQUIRED_META`."""
    settings = parts.settings
    return {
        "num_kv_blocks": parts.engine.backend.num_blocks,
        "graph_sizes": parts.engine.graph_sizes,
        "mixed_graph_sizes": parts.engine.mixed_graph_sizes,
        "vocab_size": parts.engine.vocab_size,
        "has_tokenizer": parts.engine.tokenizer is not None,
        "settings": asdict(settings),
        "trace": {
            "name": trace.name,
            "digest": trace.digest,
            "num_requests": trace.num_requests,
            "num_sessions": trace.num_sessions,
            "block_size": trace.block_size,
            "hash_id_count": trace.hash_id_count,
            "notices": trace.notices,
        },
        "notices": parts.notices,
        "cost_model": parts.engine.cost.described() if parts.engine.cost else None,
        "slo": dict(Slo.parse(settings.slo).limits_s) if settings.slo is not None else None,
        "warmup_s": settings.warmup_s,
        "seed": settings.seed,
        "hardware": parts.engine.hardware,
        "versions": versions(),
        "started_at": datetime.now(UTC).isoformat(timespec="seconds"),
    }
