"""Makes traces from a seed."""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from traces.canonical_row import default_request_id
from traces.errors import TraceError
from traces.generator_settings import GeneratorSettings
from traces.prefix_tree import PrefixTree, draw_paths
from traces.time_quantum import MAX_TIME_S, to_seconds
from traces.trace import Trace
from traces.trace_request import TraceRequest

MICROSECONDS = 10**6


def generate(settings: GeneratorSettings) -> Trace:
    """Make a trace; the same settings give the same trace in any process.

    Arrivals are whole microseconds, so that a file of the trace stays readable.

    Raises:
        TraceError: the requests would arrive over more than 48.5 days.
    """
    arrival_rng, input_rng, output_rng, prefix_rng = np.random.default_rng(settings.seed).spawn(4)
    arrivals_us = _draw_arrivals_us(settings, arrival_rng)
    inputs = _draw_lengths(settings.input_mean, settings.input_sigma, settings.num_requests, input_rng)
    outputs = _draw_lengths(settings.output_mean, settings.output_sigma, settings.num_requests, output_rng)
    input_lengths = _clipped(inputs, settings.input_min, settings.input_max)
    output_lengths = _clipped(outputs, settings.output_min, settings.output_max)
    hash_ids = _hash_ids(settings, input_lengths, prefix_rng)
    notices = (
        f"Generated with seed {settings.seed}: {settings.num_requests} requests at {settings.rate:g} a second.",
        *_clip_notice("prompts", inputs, settings.input_min, settings.input_max),
        *_clip_notice("outputs", outputs, settings.output_min, settings.output_max),
    )
    rows = zip(arrivals_us, input_lengths, output_lengths, hash_ids, strict=True)
    requests = tuple(_request(index, *row) for index, row in enumerate(rows))
    return Trace(name="generated", requests=requests, block_size=settings.block_size, notices=notices)


def _draw_arrivals_us(settings: GeneratorSettings, rng: np.random.Generator) -> list[int]:
    scale = 1 / (settings.rate * settings.burstiness)
    arrivals_s = np.cumsum(rng.gamma(settings.burstiness, scale, settings.num_requests))
    if not arrivals_s[-1] <= MAX_TIME_S:
        raise TraceError(
            f"{settings.num_requests} requests at a rate of {settings.rate} a second take {arrivals_s[-1]:.3g} s, but "
            f"a trace spans at most {MAX_TIME_S} s (48.5 days)"
        )
    return [int(arrival) for arrival in np.rint(arrivals_s * MICROSECONDS)]


def _draw_lengths(mean: float, sigma: float, num: int, rng: np.random.Generator) -> npt.NDArray[np.float64]:
    # The mean of a lognormal is exp(mu + sigma^2 / 2).
    return np.rint(rng.lognormal(math.log(mean) - sigma**2 / 2, sigma, num))


def _clipped(lengths: npt.NDArray[np.float64], shortest: int, longest: int) -> list[int]:
    return [int(length) for length in np.clip(lengths, shortest, longest)]


def _clip_notice(noun: str, lengths: npt.NDArray[np.float64], shortest: int, longest: int) -> tuple[str, ...]:
    num_short, num_long = int(np.sum(lengths < shortest)), int(np.sum(lengths > longest))
    if not num_short + num_long:
        return ()
    return (f"{num_short} {noun} were lengthened to {shortest} tokens, {num_long} cut to {longest}.",)


def _hash_ids(
    settings: GeneratorSettings, input_lengths: Sequence[int], rng: np.random.Generator
) -> list[tuple[int, ...] | None]:
    if settings.prefix_depth == 0:
        return [None] * len(input_lengths)
    tree = PrefixTree(settings.block_size, settings.prefix_node_blocks)
    paths = draw_paths(settings, rng)
    return [tree.hash_ids(path, length) for path, length in zip(paths, input_lengths, strict=True)]


def _request(
    index: int, arrival_us: int, input_length: int, output_length: int, hash_ids: tuple[int, ...] | None
) -> TraceRequest:
    return TraceRequest(
        request_id=default_request_id(index),
        line=index + 1,
        input_length=input_length,
        output_length=output_length,
        arrival_s=to_seconds(arrival_us, MICROSECONDS),
        hash_ids=hash_ids,
    )
