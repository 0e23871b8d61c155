"""A short scripted stretch of work that makes steps of known shapes."""

from dataclasses import dataclass
from typing import Literal

Family = Literal["warm-up", "decode", "shared", "skewed", "unlike", "prefill", "mixed", "traffic"]


@dataclass(frozen=True, slots=True)
class Standing:
    """A sequence that decodes from the start; its prompt is not computed, only allotted.

    Attributes:
        num_tokens: tokens of the prompt.
        num_outputs: tokens that it yields; with the first it is set up, each other one takes a step.
        num_shared: first tokens of the prompt, which others of the load begin with too; whole blocks.
    """

    num_tokens: int
    num_outputs: int
    num_shared: int = 0


@dataclass(frozen=True, slots=True)
class Chunk:
    """A prompt that comes in the middle of it and is computed in one step.

    Attributes:
        num_tokens: that are computed.
        num_cached: tokens before these, found in the cache; whole blocks, no more than the load's `num_cached`.
        num_outputs: tokens that it yields, the first one in the step that computes it.
    """

    num_tokens: int
    num_cached: int = 0
    num_outputs: int = 1


@dataclass(frozen=True, slots=True)
class Load:
    """What one stretch consists of.

    Steps count from its beginning:

        step         0       1      2      3 ...
        standing     set up  decode ................ until each has its outputs
        arrivals             [0]    [1]    [2] ...   prompts that come before the step
        counted      no      no     yes    yes       here with `num_warm_up` = 1

    Attributes:
        name: for people.
        family: kind of step that it is about.
        standing: sequences that decode.
        arrivals: prompts that come, step by step.
        num_cached: tokens that prompts of this load may find in the cache; whole blocks.
        num_warm_up: steps after the set-up that do not count.
        latest: share of the sweep's time after which it is not begun.
    """

    name: str
    family: Family
    standing: tuple[Standing, ...] = ()
    arrivals: tuple[tuple[Chunk, ...], ...] = ()
    num_cached: int = 0
    num_warm_up: int = 3
    latest: float = 1.0

    @property
    def num_steps(self) -> int:
        """Steps that it takes, its set-up included."""
        ends = [each.num_outputs for each in self.standing]
        ends += [number + chunk.num_outputs for number, chunks in enumerate(self.arrivals, 1) for chunk in chunks]
        return max([*ends, len(self.arrivals) + 1])

    @property
    def size(self) -> float:
        """About how long it takes beside other loads, in steps that hold next to nothing.

        In the time of such a step a GPU computes about 1,500 tokens of prompts or 3,000,000 pairs of query and key, or
        reads contexts of 100,000 tokens.
        """
        contexts = sum([each.num_tokens * (each.num_outputs - 1) for each in self.standing])
        chunks = [chunk for chunks in self.arrivals for chunk in chunks]
        pairs = sum([chunk.num_tokens * (chunk.num_cached + chunk.num_tokens / 2) for chunk in chunks])
        return self.num_steps + contexts / 1e5 + sum([chunk.num_tokens for chunk in chunks]) / 1500 + pairs / 3e6
