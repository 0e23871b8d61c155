"""Keeps two sweeps from working in one folder at the same time."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sim.errors import SimError


@contextmanager
def folder_lock(path: Path) -> Iterator[None]:
    """Hold a folder, which exists; the system lets go of it however this process ends.

    Raises:
        SimError: another process holds it.
    """
    import fcntl

    folder = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise SimError(f"Another sweep is at work in {path}; wait for its end, or name another folder.") from None
    else:
        yield
    finally:
        os.close(folder)
