"""The groups of cases, in the order in which they run; naming them loads no torch."""

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import NamedTuple

from benchmarks.gpu_checks.case import Case
from benchmarks.gpu_checks.setup import Setup


class Group(NamedTuple):
    """Cases that run in one process.

    Attributes:
        name: on the command line; the module of the same name has `cases(setup)`.
        limit_s: after so many seconds the process is killed.
        is_default: whether it runs when no group is named.
    """

    name: str
    limit_s: float
    is_default: bool = True


GROUPS = (
    Group("ops", 90),
    Group("sampling", 60),
    Group("flash2", 60),
    Group("parity", 90),
    Group("graphs", 75),
    Group("end_to_end", 150),
    Group("faults", 90),
    Group("start", 90),
    Group("kernel_times", 60),
    Group("flash4", 240),
    Group("tensor_parallel", 200, is_default=False),
)


def cases_of(name: str) -> Callable[[Setup], Iterable[Case]]:
    """What makes a group's cases."""
    cases: Callable[[Setup], Iterable[Case]] = import_module(f"benchmarks.gpu_checks.{name}").cases
    return cases
