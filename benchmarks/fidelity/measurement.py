"""One run to make."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.fidelity.workload import Workload
from sim.errors import SimError

_NAME = re.compile(
    r"(?P<workload>.+?)-(?P<share>(?!000)\d{3})(-repeat(?P<repeat>\d+))?(?P<wall>-wall)?(-(?P<policy>.+))?"
)


@dataclass(frozen=True, slots=True)
class Measurement:
    """A workload at a share of what can be served.

    Attributes:
        workload: the trace.
        share: of the rate that can be sustained, in percent.
        repeat: 1 for the first run of it, 2 for the second.
        pace: "virtual" or "wall".
        policy: how to schedule; None = as all other runs.
    """

    workload: Workload
    share: int
    repeat: int = 1
    pace: str = "virtual"
    policy: str | None = None

    @property
    def case(self) -> str:
        """What its repeats, paces and policies share: mooncake-070."""
        return f"{self.workload.name}-{self.share:03}"

    @property
    def name(self) -> str:
        """Of its run directory: mooncake-070, -070-repeat2, -070-wall, -070-nano-vllm."""
        repeat = f"-repeat{self.repeat}" if self.repeat > 1 else ""
        policy = f"-{self.policy}" if self.policy else ""
        return f"{self.case}{repeat}{'-wall' if self.pace == 'wall' else ''}{policy}"


def named(name: str, workloads: Sequence[Workload]) -> Measurement:
    """The measurement of this name.

    Raises:
        SimError: the name is none, or its workload is not among these.
    """
    known, found = {workload.name: workload for workload in workloads}, _NAME.fullmatch(name)
    if found is None or found["workload"] not in known:
        raise SimError(
            f"{name!r} names no measurement; write WORKLOAD-070, with -repeat2, -wall or -POLICY behind it if need "
            f"be, where WORKLOAD is one of {', '.join(known)}."
        )
    return Measurement(
        known[found["workload"]],
        int(found["share"]),
        repeat=int(found["repeat"] or 1),
        pace="wall" if found["wall"] else "virtual",
        policy=found["policy"],
    )


def chosen(flag: str, text: str, known: Sequence[str]) -> list[str]:
    """Names that a flag gives, by comma.

    Raises:
        SimError: one of them is not known; with a typing error in it, a call would use up a GPU's time for nothing.
    """
    names = [name for name in text.split(",") if name]
    for name in names:
        if name not in known:
            raise SimError(f"{flag} names {name!r}; known are {', '.join(known)}.")
    return names


def parsed_shares(text: str) -> list[int]:
    """Shares in percent, by comma.

    Raises:
        SimError: one is none.
    """
    shares = [share.strip() for share in text.split(",") if share]
    for share in shares:
        if not re.fullmatch(r"0*[1-9]\d{0,2}", share, re.ASCII):
            raise SimError(f"--shares has {share!r}; give whole percents from 1 to 999, such as 70,110.")
    return [int(share) for share in shares]


def workload_and_share(name: str) -> tuple[str, int]:
    """Of the run directory of a measurement; any other counts as a workload of its own, below saturation."""
    found = _NAME.fullmatch(name)
    return (found["workload"], int(found["share"])) if found else (name, 0)


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
