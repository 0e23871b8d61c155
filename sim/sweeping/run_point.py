"""Replays one point, in a process of its own."""

import os
import signal
import threading
from contextlib import closing
from multiprocessing import parent_process
from multiprocessing.connection import Connection, wait
from pathlib import Path

from analysis.errors import AnalysisError
from backends.errors import RecordedStepsError, SheetError
from engine.errors import EngineError
from sim.errors import SimError
from sim.interrupt import Interrupt
from sim.parts import make_parts
from sim.policy_fault import policy_faults
from sim.prompt_texts import tokenise
from sim.replay import fit_trace, load_trace, replay
from sim.replay_settings import ReplaySettings
from traces.errors import TraceError


def run_point(trace: Path, settings: ReplaySettings, output: Path) -> None:
    """Replay `trace` with `settings` into the run directory `output`; errors as of a replay."""
    loaded = load_trace(trace, settings)
    parts = make_parts(settings)
    with closing(parts.engine.backend), policy_faults(settings.policy):
        tokenised, token_ids = tokenise(loaded, parts.engine.tokenizer)
        replay(fit_trace(tokenised, parts), token_ids, parts, output, Interrupt(), lambda _, __: None)


def main(trace: Path, settings: ReplaySettings, output: Path, failure: Connection) -> None:
    """What the process does: `run_point`; a sentence goes into `failure` if a user or a file is at fault."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process above decides what a Ctrl-C means
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with failure:
        try:
            run_point(trace, settings, output)
        except (AnalysisError, EngineError, RecordedStepsError, SheetError, SimError, TraceError) as error:
            failure.send(str(error))
        except OSError as error:
            failure.send(f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror or error))
        except MemoryError:
            failure.send("The memory of this machine does not hold that; use fewer processes (--jobs).")


def _end_with_parent() -> None:
    parent = parent_process()
    assert parent is not None, "this is a process of a sweep"
    wait([parent.sentinel])
    os._exit(1)
