"""Refuses runs that a client has recorded where what it cannot see is needed."""

from analysis.run import Run
from sim.errors import SimError


def refuse_client_record(run: Run, unseen: str, remedy: str) -> None:
    """Raise SimError if a client recorded the run.

    Args:
        run: any run.
        unseen: what is needed of it.
        remedy: what to do instead.
    """
    if run.observation.by_client:
        raise SimError(f"{run.path} was recorded by a client, which cannot see {unseen}; {remedy}.")
