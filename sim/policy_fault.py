"""What a user's own policy raises, as a sentence that names the line."""

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from engine import EngineError
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
    except EngineError:
        raise
    except (Exception, SystemExit) as error:
        stack = traceback.extract_tb(error.__traceback__)
        frames = [frame for frame in stack if frame.filename == str(path.resolve())]
        if not frames:
            raise
        place = f"{path} line {frames[-1].lineno}, in {frames[-1].name}"
        raise SimError(f"{place}: {type(error).__name__}: {error}.") from error
