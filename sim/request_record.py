"""What a run knows of one request while it is under way."""

from analysis.rows import RequestRow, RequestStatus
from engine import Admission, Ended
from sim.arrivals import Arrival
from traces import TraceRequest


class RequestRecord:
    """Stamps and counts of one request; becomes a row of the requests table when it ends.

    Emissions are runs of consecutive steps with one token each, so a step in which everybody goes on decoding costs
    nothing here:

        step     5  6  7  8  9 10 11
        tokens   x  x  x        x  x      first steps [5, 10], counts [3, 2]
    """

    __slots__ = (
        "_arrival",
        "_counts",
        "_first_scheduled_s",
        "_first_steps",
        "_first_token_s",
        "_hit_tokens",
        "_last_token_s",
        "_num_preemptions",
        "_num_prefilled",
        "_num_since_admission",
        "_preempted_at_s",
        "_preempted_s",
        "_reprefill_tokens",
        "_submit_s",
    )

    def __init__(self, arrival: Arrival, submit_s: float) -> None:
        """Start with the arrival, and when it was handed to the scheduler."""
        self._arrival = arrival
        self._submit_s = submit_s
        self._first_scheduled_s: float | None = None
        self._first_token_s: float | None = None
        self._last_token_s: float | None = None
        self._hit_tokens = 0
        self._num_preemptions = 0
        self._preempted_at_s: float | None = None
        self._preempted_s = 0.0
        self._reprefill_tokens = 0
        self._num_prefilled = 0
        self._num_since_admission = 0
        self._first_steps: list[int] = []
        self._counts: list[int] = []

    @property
    def is_prefilling(self) -> bool:
        """Whether it has not sampled since it was last admitted."""
        return self._num_since_admission == 0 and len(self._first_steps) == len(self._counts)

    def admit(self, admission: Admission, start_s: float) -> None:
        """Note blocks, for the first time or again."""
        if admission.is_resumed:
            assert self._preempted_at_s is not None, "a request that lost no blocks is admitted again"
            self._preempted_s += start_s - self._preempted_at_s
            self._reprefill_tokens += max(0, self._num_computed - admission.num_hit_tokens)
        else:
            self._first_scheduled_s = start_s
            self._hit_tokens = admission.num_hit_tokens
        self._preempted_at_s = None
        self._num_prefilled = admission.num_hit_tokens
        self._num_since_admission = 0

    def prefill(self, num_tokens: int) -> None:
        """Note a chunk."""
        self._num_prefilled += num_tokens

    def preempt(self, start_s: float) -> None:
        """Note the loss of its blocks; it may have got them back in this very step, and then has waited for longer."""
        self._num_preemptions += 1
        if self._preempted_at_s is None:
            self._preempted_at_s = start_s

    def open_run(self, step: int, end_s: float) -> None:
        """Note the first token of a run; it appeared at `end_s`."""
        self._first_steps.append(step)
        if self._first_token_s is None:
            self._first_token_s = end_s

    def close_run(self, last_step: int, end_s: float) -> None:
        """Note the last token of a run; it appeared at `end_s`."""
        count = last_step - self._first_steps[-1] + 1
        self._counts.append(count)
        self._num_since_admission += count
        self._last_token_s = end_s

    @property
    def _num_computed(self) -> int:
        """Tokens whose KV was there when it last held blocks: all but the newest of those sampled since."""
        return self._num_prefilled + max(0, self._num_since_admission - 1)

    def row(self, ended: Ended | None, finish_s: float | None) -> RequestRow:
        """The row; `ended` is None if the run stopped before the request did."""
        return self._row(
            status=ended.status if ended else "unfinished",
            reason=ended.reason if ended else None,
            num_output=len(ended.output_ids) if ended else sum(self._counts),
            finish_s=finish_s,
        )

    def refused_row(self, reason: str, finish_s: float) -> RequestRow:
        """The row of a request that the scheduler did not take."""
        return self._row(status="refused", reason=reason, num_output=0, finish_s=finish_s)

    def _row(self, *, status: RequestStatus, reason: str | None, num_output: int, finish_s: float | None) -> RequestRow:
        request = self._arrival.request
        return RequestRow(
            index=self._arrival.position,
            request_id=request.request_id,
            session_id=request.session_id,
            line=request.line,
            priority=request.priority,
            input_tokens=request.input_length,
            requested_output_tokens=request.output_length,
            output_tokens=num_output,
            arrival_s=self._arrival.arrival_s,
            submit_s=self._submit_s if status != "refused" else None,
            first_scheduled_s=self._first_scheduled_s,
            first_token_s=self._first_token_s,
            last_token_s=self._last_token_s,
            finish_s=finish_s,
            status=status,
            reason=reason,
            hit_tokens=self._hit_tokens,
            reprefill_tokens=self._reprefill_tokens,
            num_preemptions=self._num_preemptions,
            preempted_s=self._preempted_s,
            emission_first_steps=self._first_steps,
            emission_counts=self._counts,
        )


def absent_row(position: int, request: TraceRequest) -> RequestRow:
    """The row of a request that had not come when the run was stopped."""
    record = RequestRecord(Arrival(0.0, request.line, position, request), 0.0)
    return record.row(None, None)._replace(arrival_s=None, submit_s=None)
