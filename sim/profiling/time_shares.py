"""How the time of a sweep is shared among its loads."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import accumulate

from sim.profiling.load import Load

_MAX_DELAY = 0.04
"""Share of the time by which a load may begin later than its place among the loads says."""


class TimeShares:
    """Says which loads to leave out where there is too little time for all.

    Sizes of loads are estimates, and how far off they are depends on model and GPU: prompts take longer than thought on
    a large model. So those are left out that take too long, not decode steps in their place, and evenly, not all of
    the last ones:

        sizes of all loads     0 |--p--|-d-|--p--|-d-|--p--|-d-| 1
        time                   0 |-----p-----|-d-|     |-d-|--...     the second p is late: p has had its share

    Args:
        loads: in the order in which they are run.
        max_seconds: wall time for all of them.
    """

    def __init__(self, loads: Sequence[Load], max_seconds: float) -> None:
        self._loads = loads
        self._max_seconds = max_seconds
        self._total = sum([load.size for load in loads])
        self._before = list(accumulate([load.size for load in loads], initial=0.0))
        self._of_family: defaultdict[str, float] = defaultdict(float)
        self._before_in_family: list[float] = []
        for load in loads:
            self._before_in_family.append(self._of_family[load.family])
            self._of_family[load.family] += load.size
        self._spent_s: defaultdict[str, float] = defaultdict(float)

    def spend(self, number: int, seconds: float) -> None:
        """Note that this load has taken so long."""
        self._spent_s[self._loads[number].family] += seconds

    def is_late(self, number: int) -> bool:
        """Whether this load is to be left out: all loads together, and those of its family, have had their time."""
        load, spent_s = self._loads[number], sum(self._spent_s.values())
        if spent_s >= load.latest * self._max_seconds:
            return True
        return self._is_over(spent_s, self._before[number], self._total) and self._is_over(
            self._spent_s[load.family], self._before_in_family[number], self._of_family[load.family]
        )

    def _is_over(self, spent_s: float, before: float, sizes: float) -> bool:
        """Whether loads of these sizes have taken longer than those before this one may."""
        return spent_s / self._max_seconds * self._total >= before + _MAX_DELAY * sizes
