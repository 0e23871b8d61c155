"""A short scripted stretch of work that makes steps of known shapes."""

from dataclasses import dataclass
from typing import Literal

Family = Literal["warm-up", "decode", "skewed", "prefill", "mixed", "traffic"]


@dataclass(frozen=True, slots=True)
class Standing:
    """A sequence that decodes from the start; its prompt is not computed, only allotted.

    Attributes:
        num_tokens: tokens of the prompt.
        num_outputs: tokens that it yields; with the first it is set up, each other one takes a step.
    """

    num_tokens: int
    num_outputs: int


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
