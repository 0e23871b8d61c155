"""The parts of a made trace by the names that the command line knows."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from traces.errors import TraceError
from traces.generation import (
    ArrivalProcess,
    ConstantLength,
    DiurnalArrivals,
    GammaArrivals,
    LognormalLength,
    OnOffArrivals,
    PrefixPlan,
    SessionPlan,
)
from traces.generation.drawn_lengths import LengthDistribution

DAY_S = 86_400.0


def poisson(rate: float) -> ArrivalProcess:
    """Gaps without memory."""
    return GammaArrivals(rate)


def gamma(rate: float, cv: float) -> ArrivalProcess:
    """Gaps of a coefficient of variation.

    Raises:
        TraceError: it is not above 0.
    """
    if not 0 < cv < 1e6:
        raise TraceError(f"cv is {cv}, but it must be a number above 0 and below 1,000,000")
    return GammaArrivals(rate, cv**-2)


def on_off(rate: float, on_s: float, off_s: float) -> ArrivalProcess:
    """Bursts with silence between."""
    return OnOffArrivals(rate, on_s, off_s)


def diurnal(rate: float, amplitude: float, period_s: float = DAY_S) -> ArrivalProcess:
    """A rate that follows the hours of a day."""
    return DiurnalArrivals(rate, amplitude, period_s)


def lognormal(mean: float, sigma: float = 1.0, min: int = 1, max: int = 131_072) -> LengthDistribution:
    """Lengths spread as those of conversations are."""
    return LognormalLength(mean=mean, sigma=sigma, shortest=min, longest=max)


def constant(tokens: int) -> LengthDistribution:
    """Lengths that are all alike."""
    return ConstantLength(tokens)


def tree(roots: int = 1, branching: int = 2, depth: int = 3, node_blocks: int = 1) -> PrefixPlan:
    """Trees of shared prefixes."""
    return PrefixPlan(roots=roots, branching=branching, depth=depth, node_blocks=node_blocks)


def chat(turns: float, delay_s: float, max: int = 32_768) -> SessionPlan:
    """Conversations whose prompts grow by what was said."""
    return SessionPlan(mean_turns=turns, mean_delay_s=delay_s, max_input=max)


ARRIVALS: Mapping[str, Any] = MappingProxyType(
    {"poisson": poisson, "gamma": gamma, "on-off": on_off, "diurnal": diurnal}
)
LENGTHS: Mapping[str, Any] = MappingProxyType({"lognormal": lognormal, "constant": constant})
PREFIXES: Mapping[str, Any] = MappingProxyType({"tree": tree})
SESSIONS: Mapping[str, Any] = MappingProxyType({"chat": chat})
