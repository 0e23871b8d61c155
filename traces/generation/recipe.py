"""What a made trace shall be like."""

from dataclasses import dataclass

from traces.errors import TraceError
from traces.generation.arrival_process import ArrivalProcess
from traces.generation.checks import check_count
from traces.generation.drawn_lengths import PairDistribution
from traces.generation.prefix_plan import PrefixPlan
from traces.generation.session_plan import SessionPlan


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """The parts of a made trace; the same parts and seed give the same trace anywhere.

    Attributes:
        seed: of all random draws. Arrivals, prompt lengths, output lengths, prefixes and sessions are drawn from
            streams of their own, so that changing one leaves the others as they are.
        num_requests: number of requests, turns of sessions included.
        arrivals: of requests, or of the first turns of sessions.
        lengths: of prompts and outputs; in sessions, of what each turn adds.
        prefixes: what the beginnings of prompts share; None shares nothing.
        sessions: how requests follow each other; None makes each a request of its own.
        block_size: prompt tokens that one content id stands for. Without prefixes and sessions there are no ids.

    Raises:
        TraceError: a number is not in its range.
    """

    seed: int
    num_requests: int
    arrivals: ArrivalProcess
    lengths: PairDistribution
    prefixes: PrefixPlan | None = None
    sessions: SessionPlan | None = None
    block_size: int = 512

    def __post_init__(self) -> None:
        check_count("the number of requests", self.num_requests)
        check_count("block size", self.block_size)
        if self.seed < 0:
            raise TraceError(f"the seed is {self.seed}, but it must be a whole number from 0")
