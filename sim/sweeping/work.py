"""What a process of a sweep does."""

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


def work(trace: Path, connection: Connection) -> None:
    """What a process of a sweep does: replay `trace` for each (settings, run directory) that comes, until none does.

    It answers each with None, or with a sentence if a user or a file is at fault.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process above decides what a Ctrl-C means
    threading.Thread(target=_end_with_parent, daemon=True).start()
    while True:
        settings, output = connection.recv()
        connection.send(attempt(trace, settings, output))


def attempt(trace: Path, settings: ReplaySettings, output: Path) -> str | None:
    """Replay `trace` into the run directory `output`; returns a sentence if a user or a file kept it from that."""
    try:
        _replay(trace, settings, output)
    except (AnalysisError, EngineError, RecordedStepsError, SheetError, SimError, TraceError) as error:
        return str(error)
    except OSError as error:
        return f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror or error)
    except MemoryError:
        return "The memory of this machine does not hold that; use fewer processes (--jobs)."
    return None


def _replay(trace: Path, settings: ReplaySettings, output: Path) -> None:
    loaded = load_trace(trace, settings)
    parts = make_parts(settings)
    with closing(parts.engine.backend), policy_faults(settings.policy):
        tokenised, token_ids = tokenise(loaded, parts.engine.tokenizer)
        replay(fit_trace(tokenised, parts), token_ids, parts, output, Interrupt(), lambda _, __: None)


def _end_with_parent() -> None:
    """Where the process above is killed, nobody else ends this one."""
    parent = parent_process()
    assert parent is not None, "this is a process of a sweep"
    wait([parent.sentinel])
    os._exit(1)
