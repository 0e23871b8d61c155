"""All that metrics need of one run."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from analysis import metrics
from analysis.emissions import Emissions
from analysis.preemptions import Preemptions
from analysis.request_columns import RequestColumns
from analysis.step_columns import Floats, StepColumns

if TYPE_CHECKING:
    from analysis.run import Run


@dataclass(frozen=True, slots=True, eq=False)
class RunColumns:
    """The columns of one run, in trace order. Made by `of`.

    Attributes:
        requests: one entry a request.
        steps: one entry a step.
        emissions: when tokens appeared.
        preemptions: when requests were preempted.
    """

    requests: RequestColumns
    steps: StepColumns
    emissions: Emissions
    preemptions: Preemptions

    @classmethod
    def of(cls, run: "Run") -> "RunColumns":
        """Reads what is needed of a run.

        Raises:
            RunError: the tables are damaged or contradict each other.
        """
        steps = StepColumns.of(run.table("steps", StepColumns.NAMES))
        names = dict.fromkeys([*RequestColumns.NAMES, *Emissions.NAMES, "index"])
        table = run.table("requests", list(names)).sort_by("index")
        requests = RequestColumns.of(table)
        preemptions = Preemptions.of(run.scan("events", Preemptions.NAMES), requests, steps)
        return cls(requests, steps, Emissions.of(table, steps), preemptions)

    def latencies(self) -> dict[str, Floats]:
        """Returns each of `metrics.LATENCIES` in seconds, NaN where a request has none, one entry a request."""
        split = metrics.latency_split(self.requests, self.preemptions)
        values = {
            "ttft": metrics.ttft_s(self.requests),
            "tpot": metrics.tpot_s(self.requests),
            "e2e": metrics.e2e_s(self.requests),
            "queue": split.queue_s,
            "prefill": split.prefill_s,
            "decode": split.decode_s,
            "preempted": split.preempted_s,
        }
        assert list(values) == list(metrics.LATENCIES)
        return values
