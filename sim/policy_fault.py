"""What a user's own policy raises, as a sentence that names the line."""

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from engine import EngineError, PolicyError
from sim.errors import SimError


@contextmanager
def policy_faults(name: str) -> Iterator[None]:
    """Blame an error on the file of a policy FILE.py:Name if it came by way of that file; pass on any other.

    Raises:
        SimError: the policy is at fault.
    """
    path = Path(name.rpartition(":")[0])
    try:
        yield
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        if isinstance(error, EngineError) and not isinstance(error, PolicyError):
            raise
        # A generator turns StopIteration into another error and keeps it as the cause.
        raised = error.__cause__ if isinstance(error.__cause__, StopIteration) else error
        stack = traceback.extract_tb(raised.__traceback__)
        frames = [frame for frame in stack if frame.filename == str(path.resolve())]
        if not frames:
            raise
        place = f"{path} line {frames[-1].lineno}, in {frames[-1].name}"
        words = str(raised).removesuffix(".") if isinstance(raised, PolicyError) else in_words(raised)
        raise SimError(f"{place}: {words}.") from error


def in_words(error: BaseException) -> str:
    """An error as type and message; some have no message."""
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
