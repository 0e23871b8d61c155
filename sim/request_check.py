"""Compares the requests of a replay with those of the run that it repeats."""

from collections.abc import Iterator, Sequence

from analysis.rows import RequestRow
from analysis.run import Run
from sim.difference import Difference, request_difference
from sim.row_check import recorded_rows


def check_requests(run: Run, rows: Sequence[RequestRow], has_lines: bool) -> Difference | None:
    """The first difference, by step where one can be named; None if there is none.

    A run that was stopped within a step has taken what had come before that step, of which nothing else is recorded; a
    run that was killed has rows of requests that had ended alone. Such rows have no counterpart.

    Args:
        run: the run.
        rows: of the replay, one a request, in any order.
        has_lines: whether the replay knows the lines of the run's trace file.
    """
    replayed = {row.index: row for row in rows}
    recorded: dict[int, RequestRow] = {}
    for row in (_row(values) for values in recorded_rows(run, "requests")):
        if row.index in recorded:
            return Difference(f"request {row.request_id}", (f"the run has two rows of index {row.index}",))
        recorded[row.index] = row
    is_killed = not run.is_complete and run.summary is None
    missing = [] if is_killed else sorted(replayed.keys() - recorded.keys())
    if missing:
        return Difference(f"request {replayed[missing[0]].request_id}", ("the run has no row of it",))
    ignored = () if has_lines else ("line",)
    differences = [*_differences(recorded, replayed, ignored, is_partial=not run.is_complete)]
    # Emissions name a step; what is in no step comes after them, in trace order.
    return min(differences, key=_order) if differences else None


def _differences(
    recorded: dict[int, RequestRow], replayed: dict[int, RequestRow], ignored: Sequence[str], *, is_partial: bool
) -> Iterator[Difference]:
    for index in sorted(recorded):
        row, other = recorded[index], replayed.get(index)
        if other is None:
            yield Difference(f"request {row.request_id}", (f"the trace has no request at index {index}",))
        elif not (is_partial and row.arrival_s is not None and other.arrival_s is None):
            difference = request_difference(row, other, ignored)
            if difference is not None:
                yield difference


def _order(difference: Difference) -> tuple[bool, int]:
    return (difference.step is None, difference.step or 0)


def _row(values: tuple[object, ...]) -> RequestRow:
    return RequestRow(*values)  # type: ignore[arg-type]  # the reader has checked the columns' types
