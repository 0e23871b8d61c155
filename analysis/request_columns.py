"""The requests of a run as numpy columns."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from analysis.arrow_values import one_array, text_scalar, to_numpy
from analysis.errors import RunError
from analysis.schema import STATUSES
from analysis.step_columns import Bools, Floats, Ints


@dataclass(frozen=True, slots=True, eq=False)
class RequestColumns:
    """What metrics need of `requests`; one entry a request, in the order of the table. Made by `of`.

    Attributes:
        request_id: names, as an Arrow array.
        is_finished: it ran to its end.
        is_failed: it failed in the engine or was refused.
        is_aborted: its caller gave it up.
        is_injected: it arrived, whatever became of it.
        input_tokens: prompt length.
        output_tokens: tokens emitted.
        arrival_s: scheduled arrival; NaN if there was none. The same holds for the stamps that follow.
        first_scheduled_s: start of the first step that ran it.
        first_token_s: when its first token appeared.
        last_token_s: when its last token appeared.
        finish_s: when it ended, however.
        hit_tokens: prompt tokens found in the prefix cache at the first admission.
        preempted_s: time in which it was preempted.
    """

    request_id: "pa.Array[Any]"
    is_finished: Bools
    is_failed: Bools
    is_aborted: Bools
    is_injected: Bools
    input_tokens: Ints
    output_tokens: Ints
    arrival_s: Floats
    first_scheduled_s: Floats
    first_token_s: Floats
    last_token_s: Floats
    finish_s: Floats
    hit_tokens: Ints
    preempted_s: Floats

    INTS = ("input_tokens", "output_tokens", "hit_tokens")
    TIMES = ("arrival_s", "first_scheduled_s", "first_token_s", "last_token_s", "finish_s", "preempted_s")
    NAMES = ("request_id", "status", *INTS, *TIMES)
    """Columns of the table that are read."""

    def __len__(self) -> int:
        return len(self.is_finished)

    @classmethod
    def of(cls, table: pa.Table) -> "RequestColumns":
        """Takes the columns of a `requests` table.

        Raises:
            RunError: a status is unknown, a name occurs twice, or a finished request lacks a stamp.
        """
        request_id, status = one_array(table.column("request_id")), table.column("status")
        _check_names(request_id)
        _check_statuses(status)
        is_status = {name: to_numpy(pc.equal(status, text_scalar(name))) for name in STATUSES}
        times = {name: to_numpy(table.column(name)) for name in cls.TIMES}
        _check_stamps(request_id, is_status["finished"], times)
        return cls(
            request_id=request_id,
            is_finished=is_status["finished"],
            is_failed=is_status["failed"] | is_status["refused"],
            is_aborted=is_status["aborted"],
            is_injected=~np.isnan(times["arrival_s"]),
            **{name: to_numpy(table.column(name)) for name in cls.INTS},
            **times,
        )


def _check_names(request_id: "pa.Array[Any]") -> None:
    if pc.count_distinct(request_id).as_py() < len(request_id):
        counts = pc.value_counts(request_id)
        name = counts.field("values")[int(np.argmax(to_numpy(counts.field("counts"))))]
        raise RunError(f"Table requests: {name.as_py()!r} occurs more than once; request_id must be unique.")


def _check_statuses(status: "pa.ChunkedArray[Any]") -> None:
    for name in status.unique().to_pylist():
        if name not in STATUSES:
            raise RunError(f"Table requests: status {name!r} is unknown; known are {', '.join(STATUSES)}.")


def _check_stamps(request_id: "pa.Array[Any]", is_finished: Bools, times: dict[str, Floats]) -> None:
    for name, values in times.items():
        missing = np.flatnonzero(is_finished & ~np.isfinite(values))
        # A client cannot see when a request was scheduled: then no request has this stamp.
        is_unknown = name == "first_scheduled_s" and np.isnan(values).all()
        if len(missing) and not is_unknown:
            request = request_id[int(missing[0])].as_py()
            raise RunError(f"Table requests: {request!r} is finished but has no {name}.")
