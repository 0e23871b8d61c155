"""Runs the loads of a plan through the serving loop and keeps the times of their steps."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from engine import Scheduler
from sim.decision_digest import DecisionDigest
from sim.errors import SimError
from sim.interrupt import Interrupt
from sim.one_by_one import OneByOne
from sim.parts import Parts
from sim.profiling.load import Load
from sim.profiling.load_script import LoadScript
from sim.profiling.set_up_backend import SetUpBackend
from sim.profiling.step_sink import StepSink
from sim.prompt_maker import PromptMaker
from sim.recorder import Recorder
from sim.replay_settings import MAX_COUNT
from sim.replica import Replica
from sim.serving import Serving


@dataclass(frozen=True, slots=True)
class Sweep:
    """Steps of the loads that ran.

    Attributes:
        columns: those of a run's step table, then `load`, the number of the step's load, and `is_warm_up`: 1.0 if the
            step is no measurement; set-up steps are left out.
        skipped: numbers of loads that did not run, or not to their end, for lack of time.
        seconds: that it took.
    """

    columns: dict[str, NDArray[np.float64]]
    skipped: tuple[int, ...]
    seconds: float


def sweep(
    parts: Parts,
    loads: Sequence[Load],
    max_seconds: float,
    interrupt: Interrupt,
    on_load: Callable[[int], None] = lambda _: None,
    clock: Callable[[], float] = time.perf_counter,
) -> Sweep:
    """Run loads, in the loop that serves traces, with a scheduler whose token budget is boundless.

    The loads themselves keep to the engine's budget; without it, all sequences of a load are set up in one step.

    Args:
        parts: the engine; its backend stays open.
        loads: what to run, in order.
        max_seconds: wall time after which no more is begun and what runs is broken off.
        interrupt: ends the sweep early when requested.
        on_load: called with the number of each load before it begins.
        clock: wall time, in seconds.

    Raises:
        SimError: a step could not be computed.
    """
    limits, sink = parts.limits, StepSink()

    def begin(number: int) -> None:
        sink.pack()
        on_load(number)

    script = LoadScript(loads, limits.block_size, max_seconds, interrupt, clock, begin)
    backend = SetUpBackend(parts.engine.backend, script)
    recorder = Recorder(sink, limits.block_size, DecisionDigest(), lambda _, __: None)
    scheduler = Scheduler(replace(limits, max_num_batched_tokens=MAX_COUNT), backend.num_blocks, parts.policy)
    serving = Serving(parts.pace.environment, script, scheduler, recorder, interrupt)
    step_clock, prompts = parts.engine.step_clock, PromptMaker(limits.block_size, parts.settings.seed, {})
    one_by_one = OneByOne(serving, backend, step_clock, parts.engine.spare_time)
    replica = Replica(serving, parts.pace, prompts, one_by_one, step_clock)
    step_clock.restart()
    parts.pace.environment.run(parts.pace.environment.process(replica.serve()))
    parts.engine.spare_time.use()
    recorder.finish([])
    if sink.failures:
        raise SimError(f"The sweep met a step that could not be computed: {sink.failures[0]}")
    skipped = _skipped(script, len(loads), interrupt.is_requested)
    return Sweep(_labelled(sink.columns(), backend.labels, loads), skipped, script.elapsed_s)


def _skipped(script: LoadScript, num_loads: int, is_broken_off: bool) -> tuple[int, ...]:
    first_left = script.load if is_broken_off else num_loads
    return tuple(sorted({*script.skipped, *range(first_left, num_loads)}))


def _labelled(
    columns: dict[str, NDArray[np.float64]], labels: list[tuple[int, int, int]], loads: Sequence[Load]
) -> dict[str, NDArray[np.float64]]:
    steps, load_numbers, offsets = np.array(labels, dtype=np.int64).reshape(-1, 3).T
    num_warm_up = np.array([load.num_warm_up for load in loads], dtype=np.int64)
    position = np.searchsorted(columns["step"], steps)
    kept = {name: column[position][offsets > 0] for name, column in columns.items()}
    kept["load"] = load_numbers[offsets > 0].astype(np.float64)
    kept["is_warm_up"] = (offsets <= num_warm_up[load_numbers])[offsets > 0].astype(np.float64)
    return kept
