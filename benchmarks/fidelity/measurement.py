"""One run to make."""

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.fidelity.workload import Workload


@dataclass(frozen=True, slots=True)
class Measurement:
    """A workload at a share of what can be served.

    Attributes:
        workload: the trace.
        share: of the rate that can be sustained, in percent.
        repeat: 1 for the first run of it, 2 for the second.
        pace: "virtual" or "wall".
    """

    workload: Workload
    share: int
    repeat: int = 1
    pace: str = "virtual"

    @property
    def case(self) -> str:
        """What its repeats and paces share: mooncake-070."""
        return f"{self.workload.name}-{self.share:03}"

    @property
    def name(self) -> str:
        """Of its run directory: mooncake-070, -070-repeat2, -070-wall."""
        repeat = f"-repeat{self.repeat}" if self.repeat > 1 else ""
        return f"{self.case}{repeat}{'-wall' if self.pace == 'wall' else ''}"


def measurements(workloads: Sequence[Workload], shares: Sequence[int], repeated: int | None) -> list[Measurement]:
    """The runs to make, the most telling ones first.

    Args:
        workloads: traces.
        shares: in percent, in the order in which they matter.
        repeated: the share that is run a second time, and once, with the first workload, at wall pace; None = none.
    """
    planned = [Measurement(workload, share) for share in shares for workload in workloads]
    if repeated is not None:
        planned += [Measurement(workload, repeated, repeat=2) for workload in workloads]
        planned.append(Measurement(workloads[0], repeated, pace="wall"))
    return planned
