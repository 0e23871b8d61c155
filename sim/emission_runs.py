"""Which requests got a token in each step, as runs of consecutive steps."""

from collections.abc import Collection, Mapping

from sim.request_record import RequestRecord


class EmissionRuns:
    """Opens and closes the runs of the records when the set of sampling requests changes."""

    def __init__(self, records: Mapping[str, RequestRecord]) -> None:
        """Follow `records`, which holds every live request."""
        self._records = records
        self._open: dict[str, None] = {}
        self._sampled: tuple[str, ...] | None = ()
        """Who got a token in the last step; None if a run was closed since, so that the next step is looked at."""
        self._step = -1
        self._end_s = 0.0

    def advance(self, step: int, sampled: tuple[str, ...], end_s: float) -> None:
        """Take the requests that got a token in `step`, which ended at `end_s`. Steps come without gaps."""
        # While the same requests decode, this is one tuple object: the comparison is quick, and nothing is to be done.
        if not self.are_going_on(sampled):
            now = set(sampled)
            self.close([request_id for request_id in self._open if request_id not in now])
            for request_id in sampled:
                if request_id not in self._open:
                    self._open[request_id] = None
                    self._records[request_id].open_run(step, end_s)
            self._sampled = sampled
        self._step, self._end_s = step, end_s

    def are_going_on(self, request_ids: tuple[str, ...]) -> bool:
        """Whether exactly these got a token in the step before, so that all of them decode now."""
        return request_ids == self._sampled

    def __contains__(self, request_id: str) -> bool:
        """Whether a request got a token in the step before."""
        return request_id in self._open

    def close(self, request_ids: Collection[str]) -> None:
        """End the runs of these, where one is open, with the last step taken."""
        for request_id in request_ids:
            if request_id in self._open:
                del self._open[request_id]
                self._records[request_id].close_run(self._step, self._end_s)
                self._sampled = None

    def close_all(self) -> None:
        """End all runs."""
        self.close(list(self._open))
