"""When the tokens of requests appeared."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from analysis.arrow_values import one_array, to_numpy
from analysis.errors import RunError
from analysis.sample import Sample
from analysis.step_columns import Bools, Floats, Ints, StepColumns


@dataclass(frozen=True, slots=True, eq=False)
class Emissions:
    """Runs of consecutive steps, each of which gave one request one token. Made by `of`.

    Work here grows with runs and steps, not with tokens: all requests in a run share the gaps between steps.

    Attributes:
        owner: row of `requests` to which a run belongs; ascending.
        first: position in `steps` of a run's first step.
        last: position in `steps` of a run's last step.
    """

    owner: Ints
    first: Ints
    last: Ints

    NAMES = ("request_id", "output_tokens", "emission_first_steps", "emission_counts")
    """Columns of `requests` that are read."""

    @classmethod
    def of(cls, table: pa.Table, steps: StepColumns) -> "Emissions":
        """Takes the emissions of a `requests` table.

        Raises:
            RunError: runs and output tokens do not agree, are out of order, or lie in steps that are not there.
        """
        first_steps = one_array(table.column("emission_first_steps"))
        counts = one_array(table.column("emission_counts"))
        request_id = table.column("request_id")
        lengths = to_numpy(pc.list_value_length(first_steps))
        _check(lengths != to_numpy(pc.list_value_length(counts)), request_id, "emission lists of different lengths")
        owner = np.repeat(np.arange(len(table)), lengths)
        first = to_numpy(pc.list_flatten(first_steps)) - steps.first_step
        run_tokens = to_numpy(pc.list_flatten(counts))
        emissions = cls(owner, first, first + run_tokens - 1)
        emissions._check_runs(len(steps), request_id)
        num_tokens = np.bincount(owner, run_tokens, minlength=len(table))
        _check(num_tokens != to_numpy(table.column("output_tokens")), request_id, "emissions that do not sum up")
        return emissions

    def of_requests(self, is_wanted: Bools) -> "Emissions":
        """Keeps the runs of some requests.

        Args:
            is_wanted: one entry a request.
        """
        keep = is_wanted[self.owner]
        return Emissions(self.owner[keep], self.first[keep], self.last[keep])

    def tokens_per_step(self, num_steps: int) -> Ints:
        """Returns how many tokens appeared at the end of each step."""
        return _covering(self.first, self.last, num_steps)

    def gaps_s(self, steps: StepColumns) -> Sample:
        """Returns all gaps between consecutive tokens of a request, pooled, in seconds."""
        inside_s = _step_gaps_s(steps)
        counts = _covering(self.first + 1, self.last, len(steps))
        between_s = self._gaps_between_runs_s(steps)
        is_used = counts > 0
        return Sample.of(
            np.concatenate([inside_s[is_used], between_s]),
            np.concatenate([counts[is_used], np.ones(len(between_s), np.int64)]),
        )

    def largest_gaps_s(self, steps: StepColumns, num_requests: int) -> Floats:
        """Returns the largest gap of each request in seconds; NaN with fewer than two tokens."""
        largest = np.full(num_requests, -np.inf)
        is_long = self.last > self.first
        if is_long.any():
            # Even segments of reduceat are the runs; odd ones, from run to run, are dropped.
            bounds = np.column_stack([self.first[is_long] + 1, self.last[is_long] + 1]).ravel()
            padded = np.append(_step_gaps_s(steps), 0.0)
            np.maximum.at(largest, self.owner[is_long], np.maximum.reduceat(padded, bounds)[::2])
        np.maximum.at(largest, self.owner[1:][self._follows()], self._gaps_between_runs_s(steps))
        return np.where(np.isneginf(largest), np.nan, largest)

    def _follows(self) -> Bools:
        """Whether a run, from the second on, belongs to the same request as the one before."""
        return np.equal(self.owner[1:], self.owner[:-1])

    def _gaps_between_runs_s(self, steps: StepColumns) -> Floats:
        follows = self._follows()
        return steps.end_s[self.first[1:][follows]] - steps.end_s[self.last[:-1][follows]]

    def _check_runs(self, num_steps: int, request_id: "pa.ChunkedArray[Any]") -> None:
        is_outside = (self.first < 0) | (self.last >= num_steps)
        _check(is_outside, request_id, "tokens in steps that table steps does not hold", self.owner)
        _check(self.last < self.first, request_id, "a run of fewer than one token", self.owner)
        is_mixed = self._follows() & (self.first[1:] <= self.last[:-1])
        _check(is_mixed, request_id, "emissions that are not in order", self.owner[1:])


def _step_gaps_s(steps: StepColumns) -> Floats:
    """Time from the end of the step before to the end of each step; none before the first, where 0 stands in."""
    return np.diff(steps.end_s, prepend=steps.end_s[:1])


def _covering(first: Ints, last: Ints, num_steps: int) -> Ints:
    """Counts how many of the ranges first..last hold each position; a range with last = first - 1 is empty."""
    starts = np.bincount(first, minlength=num_steps + 1)
    ends = np.bincount(last + 1, minlength=num_steps + 1)
    return np.cumsum(starts - ends)[:num_steps]


def _check(is_bad: Bools, request_id: "pa.ChunkedArray[Any]", what: str, owner: Ints | None = None) -> None:
    bad = np.flatnonzero(is_bad)
    if len(bad):
        row = int(bad[0] if owner is None else owner[bad[0]])
        raise RunError(f"Table requests: {request_id[row].as_py()!r} has {what}.")
