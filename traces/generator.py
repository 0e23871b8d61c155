"""Makes traces from a seed."""

from traces.generation.gamma_arrivals import GammaArrivals
from traces.generation.independent_lengths import IndependentLengths
from traces.generation.lognormal_length import LognormalLength
from traces.generation.prefix_plan import PrefixPlan
from traces.generation.recipe import Recipe
from traces.generation.recipe_maker import make_trace
from traces.generator_settings import GeneratorSettings
from traces.trace import Trace


def generate(settings: GeneratorSettings) -> Trace:
    """Make a trace; the same settings give the same trace in any process.

    Arrivals are whole microseconds, so that a file of the trace stays readable.

    Raises:
        TraceError: the requests would arrive over more than 48.5 days.
    """
    return make_trace(
        Recipe(
            seed=settings.seed,
            num_requests=settings.num_requests,
            arrivals=GammaArrivals(settings.rate, settings.burstiness),
            lengths=IndependentLengths(
                LognormalLength(
                    mean=settings.input_mean,
                    sigma=settings.input_sigma,
                    shortest=settings.input_min,
                    longest=settings.input_max,
                ),
                LognormalLength(
                    mean=settings.output_mean,
                    sigma=settings.output_sigma,
                    shortest=settings.output_min,
                    longest=settings.output_max,
                ),
            ),
            prefixes=_prefixes(settings),
            block_size=settings.block_size,
        )
    )


def _prefixes(settings: GeneratorSettings) -> PrefixPlan | None:
    if settings.prefix_depth == 0:
        return None
    return PrefixPlan(
        roots=settings.prefix_roots,
        branching=settings.prefix_branching,
        depth=settings.prefix_depth,
        node_blocks=settings.prefix_node_blocks,
    )
