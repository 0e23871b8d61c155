"""The groups of cases, in the order in which they start; naming them loads no torch."""

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
        is_alone: whether no other group may run beside it, since it measures time or memory.
        is_default: whether it runs when no group is named.
    """

    name: str
    limit_s: float
    is_alone: bool = False
    is_default: bool = True


GROUPS = (
    Group("flash4", 300),
    Group("end_to_end", 240),
    Group("parity", 150),
    Group("ops", 150),
    Group("sampling", 100),
    Group("flash2", 100),
    Group("graphs", 120),
    Group("faults", 100, is_alone=True),
    Group("start", 100, is_alone=True),
    Group("kernel_times", 60, is_alone=True),
    Group("tensor_parallel", 240, is_alone=True, is_default=False),
)


def cases_of(name: str) -> Callable[[Setup], Iterable[Case]]:
    """What makes a group's cases."""
    cases: Callable[[Setup], Iterable[Case]] = import_module(f"benchmarks.gpu_checks.{name}").cases
    return cases
