"""When requests were preempted and resumed."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from analysis.arrow_values import empty_table, text_scalar, to_arrow, to_numpy
from analysis.request_columns import RequestColumns
from analysis.schema import EVENTS
from analysis.step_columns import Bools, Floats, Ints, StepColumns


@dataclass(frozen=True, slots=True, eq=False)
class Preemptions:
    """Preemptions of a run. Made by `of`.

    Attributes:
        position: of every preemption, the position in `steps` of the step that preempted.
        owner: of every preemption that ended in a resumption, the row of `requests`; a killed run has no row for
            requests that had not ended, and their preemptions are left out here.
        start_s: of the same, the start of the step that preempted.
        end_s: of the same, the start of the step that resumed.
        last_owner: of every request that was not resumed again, the row of `requests`.
        last_start_s: of the same, the start of the step that preempted.
    """

    position: Ints
    owner: Ints
    start_s: Floats
    end_s: Floats
    last_owner: Ints
    last_start_s: Floats

    NAMES = ("step", "request_id", "kind")
    """Columns of `events` that are read."""

    def __len__(self) -> int:
        return len(self.position)

    @classmethod
    def of(cls, events: Iterable[pa.Table], requests: RequestColumns, steps: StepColumns) -> "Preemptions":
        """Pairs each event of kind preempted with the next of kind resumed of the same request.

        Args:
            events: pieces of an `events` table, in order.
            requests: names to look up.
            steps: times to look up.

        Raises:
            RunError: an event lies in a step that is not there.
        """
        table = _preempted_or_resumed(events)
        position = steps.positions(to_numpy(table.column("step")), "events")
        is_preempted = to_numpy(pc.equal(table.column("kind"), text_scalar("preempted")))
        row = pc.index_in(table.column("request_id"), requests.request_id)
        is_known = to_numpy(row.is_valid())
        owner = to_numpy(row.drop_null()).astype(np.int64)
        order = np.argsort(owner, kind="stable")
        at, is_out = position[is_known][order], is_preempted[is_known][order]
        return cls._of_sorted(position[is_preempted], owner[order], steps.start_s[at], is_out)

    @classmethod
    def _of_sorted(cls, position: Ints, owner: Ints, time_s: Floats, is_out: Bools) -> "Preemptions":
        """Looks at each event with the next one of the same request: preempted, then resumed, or nothing more."""
        is_same = owner[:-1] == owner[1:]
        pair = np.flatnonzero(is_out[:-1] & ~is_out[1:] & is_same)
        is_last = np.ones(len(owner), np.bool_)
        is_last[:-1] = ~is_same
        last = np.flatnonzero(is_out & is_last)
        return cls(
            position=position,
            owner=owner[pair],
            start_s=time_s[pair],
            end_s=time_s[pair + 1],
            last_owner=owner[last],
            last_start_s=time_s[last],
        )

    def before(self, times_s: Floats) -> Floats:
        """Sums up, for each request, its preempted time that began before a time of its own, in seconds.

        Args:
            times_s: one entry a request; NaN counts nothing.
        """
        total_s = np.zeros(len(times_s))
        np.add.at(total_s, self.owner, np.where(self.start_s < times_s[self.owner], self.end_s - self.start_s, 0.0))
        return total_s


def _preempted_or_resumed(events: Iterable[pa.Table]) -> pa.Table:
    kinds = to_arrow(["preempted", "resumed"], pa.string())
    wanted = [piece.filter(pc.is_in(piece.column("kind"), kinds)) for piece in events]
    return pa.concat_tables(wanted) if wanted else empty_table(EVENTS).select(list(Preemptions.NAMES))
