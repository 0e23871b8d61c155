"""Ends the program with a sentence instead of a traceback for what a user or a file can cause."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from sim.message import tell


@contextmanager
def clean_exit() -> Iterator[None]:
    """Print expected errors on stderr and exit with 2; leave faults of our own to show where they are.

    Raises:
        typer.Exit: an expected error, one of the machine (a file, a disk, memory), or an interrupt.
    """
    # Imported here: the command line's help must come without the rooms behind it.
    from analysis.errors import AnalysisError
    from analysis.flag_names import with_flags
    from backends.errors import RecordedStepsError, SheetError
    from backends.qwen3.errors import ModelError
    from engine.errors import EngineError
    from sim.errors import SimError
    from traces.errors import TraceError

    try:
        yield
    except (AnalysisError, EngineError, ModelError, RecordedStepsError, SheetError, SimError, TraceError) as error:
        message = with_flags(str(error)) if isinstance(error, EngineError) else str(error)
        tell("error", message if message.endswith(".") else f"{message}.")
        raise typer.Exit(2) from None
    except BrokenPipeError:
        raise  # nobody reads any more; typer ends quietly
    except OSError as error:
        place = "" if error.filename is None else f"{error.filename}: "
        print(f"error: {place}{error.strerror or error}.", file=sys.stderr)
        raise typer.Exit(2) from None
    except MemoryError:
        print("error: The memory of this machine does not hold that; use smaller sizes.", file=sys.stderr)
        raise typer.Exit(2) from None
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        raise typer.Exit(130) from None
