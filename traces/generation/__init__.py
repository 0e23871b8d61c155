"""Parts of which a made trace is put together: arrivals, lengths, shared prefixes, sessions."""

from traces.generation.arrival_process import ArrivalProcess
from traces.generation.constant_length import ConstantLength
from traces.generation.diurnal_arrivals import DiurnalArrivals
from traces.generation.gamma_arrivals import GammaArrivals
from traces.generation.independent_lengths import IndependentLengths
from traces.generation.lognormal_length import LognormalLength
from traces.generation.on_off_arrivals import OnOffArrivals
from traces.generation.prefix_plan import PrefixPlan
from traces.generation.recipe import Recipe
from traces.generation.resampled_lengths import ResampledLengths
from traces.generation.session_plan import SessionPlan

__all__ = [
    "ArrivalProcess",
    "ConstantLength",
    "DiurnalArrivals",
    "GammaArrivals",
    "IndependentLengths",
    "LognormalLength",
    "OnOffArrivals",
    "PrefixPlan",
    "Recipe",
    "ResampledLengths",
    "SessionPlan",
]
