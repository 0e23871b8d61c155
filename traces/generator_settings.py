"""What a generated trace shall look like."""

import math
from dataclasses import dataclass, fields

from traces.errors import TraceError

MAX_COUNT = 2**31 - 1
MAX_SIGMA = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratorSettings:
    """Arrivals, lengths and shared prefixes of a generated trace; the same settings give the same trace anywhere.

    Attributes:
        seed: of all random draws. Arrivals, prompt lengths, output lengths and prefixes are drawn from streams of their
            own, so that changing one leaves the others as they are.
        num_requests: number of requests.
        rate: mean arrivals a second.
        burstiness: shape of the gamma distribution of the gaps between arrivals: 1 is a Poisson process, below 1 comes
            in bursts, above 1 is more even.
        input_mean: mean of the lognormal prompt lengths in tokens, before clipping.
        input_sigma: standard deviation of their logarithm; 0 makes all alike.
        input_min: shorter prompts are lengthened to this.
        input_max: longer prompts are cut to this.
        output_mean: as for the prompts.
        output_sigma: as for the prompts.
        output_min: as for the prompts.
        output_max: as for the prompts.
        block_size: prompt tokens that one content id stands for.
        prefix_roots: number of trees of shared prefixes.
        prefix_branching: children of each node of a tree.
        prefix_depth: levels of a tree. A prompt begins with the nodes on a path from a root, of 0 to `prefix_depth`
            nodes, all lengths alike likely, as far as it has full blocks for them. With 0 nothing is shared and the
            trace has no content ids.
        prefix_node_blocks: blocks in one node.

    Raises:
        TraceError: a setting is not a number in its range.
    """

    seed: int = 0
    num_requests: int = 1000
    rate: float = 1.0
    burstiness: float = 1.0
    input_mean: float = 2048.0
    input_sigma: float = 1.0
    input_min: int = 1
    input_max: int = 32_768
    output_mean: float = 200.0
    output_sigma: float = 0.8
    output_min: int = 1
    output_max: int = 2048
    block_size: int = 512
    prefix_roots: int = 1
    prefix_branching: int = 2
    prefix_depth: int = 0
    prefix_node_blocks: int = 1

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if field.type is int:
                _check_count(field.name, value, 0 if field.name in ("seed", "prefix_depth") else 1)
            else:
                _check_number(field.name, value)
        for kind in ("input", "output"):
            shortest, longest = getattr(self, f"{kind}_min"), getattr(self, f"{kind}_max")
            if shortest > longest:
                raise TraceError(f"{kind}_min is {shortest}, but it must not be above {kind}_max, {longest}")


def _check_count(name: str, value: object, lowest: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not lowest <= value <= MAX_COUNT:
        raise TraceError(f"{name} is {value!r}, but it must be a whole number from {lowest} to {MAX_COUNT}")


def _check_number(name: str, value: object) -> None:
    number = value if isinstance(value, int | float) and not isinstance(value, bool) else math.nan
    if name.endswith("_sigma"):
        if not 0 <= number <= MAX_SIGMA:
            raise TraceError(f"{name} is {value!r}, but it must be a number from 0 to {MAX_SIGMA}")
    elif not 0 < number < math.inf:
        raise TraceError(f"{name} is {value!r}, but it must be a number above 0")
