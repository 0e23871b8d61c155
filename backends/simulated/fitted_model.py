"""Step times fitted to those of a real GPU."""

from functools import lru_cache
from typing import Generic, NamedTuple

from backends.cost_model import Sizes, StepColumns, StepTimes, Value, is_absent, is_present, larger
from backends.simulated.curve import Band, Curves
from backends.simulated.decode_attention import AttentionRates, DecodeAttention
from backends.simulated.fitted_times import DecodeTimes, FittedTimes, ProductTimes, PromptTimes
from backends.simulated.least_time import LeastTime
from backends.simulated.term import Limit, Term
from engine.step_shape import StepShape

_US = 1e-6
_PER_1K, _PER_1M = 1e-9, 1e-12
_MAX_SIZES_KEPT = 16_384


class _Rates(NamedTuple, Generic[Value]):
    """What sizes and the band of the longest context decide, in seconds.

    Attributes:
        products_s: device time of all tokens, and of rows that yield one.
        attention: of decode attention.
        chunk_context_s: device time of each token of the chunks' mean context.
        launches_s: least device time; 0 in a graph.
        host_s: host time but for blocks and requests.
    """

    products_s: Value
    attention: AttentionRates[Value]
    chunk_context_s: Value
    launches_s: Value
    host_s: Value


class FittedModel:
    """Cost model with the numbers of a calibration.

    A step lasts as long as its device time and its host time. The device time is a sum of parts that depend on the
    step's size; that of an eager step is never below what the host needs to launch it, and none is below `LeastTime`.

    Args:
        times: the numbers.
        least: bound that no step can be below; None = no bound, for a fit.
    """

    def __init__(self, times: FittedTimes, least: LeastTime | None) -> None:
        self._attention = DecodeAttention(times.attention)
        self._decode, self._prompts = _Decodes(times.decode), _Prompts(times.prompts)
        self._launches, self._host, self._least = times.launches, times.host, least
        self._rates_of_one = lru_cache(_MAX_SIZES_KEPT)(self._count_rates_of_one)
        self._pair_s = times.prompts.pairs_per_1m_us * _PER_1M
        self._block_s, self._admission_s = times.host.block_us * _US, times.host.admission_us * _US
        self._release_s = times.host.release_us * _US
        self._listed_s = times.host.context_1k_us * _PER_1K

    def step_times(self, steps: StepColumns[Value]) -> StepTimes[Value]:
        """Times of the given steps, row by row."""
        rates = self._rates(steps)
        saved = self._attention.saved(steps, rates.attention)
        device_s = rates.products_s + self._attention.time(steps, rates.attention, saved)
        if not is_absent(steps.num_prefill_seqs):
            device_s = device_s + self._chunk_attention(steps, rates)
        device_s = larger(device_s, rates.launches_s)
        if self._least is not None:
            device_s = larger(device_s, self._least.of(steps))
            if not is_absent(saved):
                device_s = larger(device_s, rates.products_s + self._attention.least(steps, rates.attention, saved))
        host_s = rates.host_s + _grows(steps) * self._block_s + steps.num_admitted * self._admission_s
        host_s = host_s + is_present(steps.num_released) * self._release_s + steps.decode_context * self._listed_s
        return StepTimes(device_s + host_s, device_s)

    def explain(self, shape: StepShape, graph_size: int | None = None) -> tuple[Term, ...]:
        """The parts of one step's time; they add up to `duration_s`, but for the rounding of sums.

        What a fit sees only together is one term. FLOPs and bytes are not known to it.

        Args:
            shape: the step.
            graph_size: size that it is padded to; None if it runs eager.
        """
        steps = StepColumns.one_row(shape, graph_size)
        rates, times = self._rates(steps), self.step_times(steps)
        saved = self._attention.saved(steps, rates.attention)
        attention_s, chunks_s = self._attention.time(steps, rates.attention, saved), self._chunk_attention(steps, rates)
        work_s = rates.products_s + attention_s + chunks_s
        waits_s = larger(rates.launches_s - work_s, 0.0)
        host = self._host
        rows, has_left = steps.num_prefill_seqs + steps.num_decode_seqs, is_present(steps.num_released)
        named: tuple[tuple[str, float, float, Limit], ...] = (
            ("products, norms, sampler, gaps", _padded(steps), rates.products_s, "device"),
            ("decode attention", steps.num_decode_seqs, attention_s, "device"),
            ("prefill attention", steps.num_prefill_seqs, chunks_s, "device"),
            ("up to the peak rates", 1.0, times.device_s - larger(work_s, rates.launches_s), "device"),
            ("launches not hidden", 1.0, waits_s, "host"),
            ("host: step and rows", rows, rates.host_s - host.stalls_us * _US, "host"),
            ("host: contexts", steps.decode_context, steps.decode_context * self._listed_s, "host"),
            ("host: blocks", _grows(steps), _grows(steps) * self._block_s, "host"),
            ("host: admissions", steps.num_admitted, steps.num_admitted * self._admission_s, "host"),
            ("host: releases", has_left, has_left * self._release_s, "host"),
            ("host: stalls, on average", 1.0, host.stalls_us * _US, "host"),
        )
        return tuple([Term(name, count, 0.0, 0.0, time_s, limit) for name, count, time_s, limit in named if time_s])

    def _chunk_attention(self, steps: StepColumns[Value], rates: _Rates[Value]) -> Value:
        pairs = steps.prefill_qk - (steps.prefill_qq - steps.num_prefill_tokens) / 2.0
        mean_context = steps.prefill_context / larger(steps.num_prefill_seqs, 1.0)
        return pairs * self._pair_s + mean_context * rates.chunk_context_s

    def _rates(self, steps: StepColumns[Value]) -> _Rates[Value]:
        band = self._attention.bands.of(steps.max_decode_context)
        if not isinstance(steps.graph_size, float):
            return self._count_rates(steps, band)
        sizes = (
            steps.num_prefill_tokens, steps.num_prefill_seqs, steps.num_decode_seqs, steps.num_sampled, steps.graph_size
        )  # fmt: skip
        return self._rates_of_one(sizes, band)

    def _count_rates_of_one(self, sizes: Sizes, band: int) -> _Rates[float]:
        return self._count_rates(StepColumns.of_sizes(sizes), band)

    def _count_rates(self, steps: StepColumns[Value], band: Band) -> _Rates[Value]:
        has_prompts = is_present(steps.num_prefill_seqs)
        alone_s, beside_s = self._decode.products(steps), self._prompts.products(steps)
        return _Rates(
            # One of both factors is 1.0 and the other 0.0, so that the sum is one of its parts to the last bit.
            products_s=(1.0 - has_prompts) * alone_s + has_prompts * beside_s,
            attention=self._attention.rates(steps.num_decode_seqs, steps.graph_size, band),
            chunk_context_s=self._prompts.context(steps),
            launches_s=self._launch_time(steps),
            host_s=self._host_time(steps),
        )

    def _launch_time(self, steps: StepColumns[Value]) -> Value:
        launches, has_prompts = self._launches, is_present(steps.num_prefill_seqs)
        with_prompts = _chosen(is_present(steps.num_decode_seqs), launches.mixed_us, launches.prompts_us)
        launches_us = (1.0 - has_prompts) * launches.decode_us + has_prompts * with_prompts
        return (1.0 - is_present(steps.graph_size)) * launches_us * _US

    def _host_time(self, steps: StepColumns[Value]) -> Value:
        host, has_prompts, has_graph = self._host, is_present(steps.num_prefill_seqs), is_present(steps.graph_size)
        in_graph = _chosen(has_prompts, host.prompts_us, host.decode_us)
        eager = _chosen(has_prompts, host.eager_prompts_us, host.eager_decode_us)
        fixed_us = has_graph * in_graph + (1.0 - has_graph) * eager + host.stalls_us
        rows_us = (
            steps.num_prefill_seqs + steps.num_decode_seqs
        ) * host.row_us + steps.num_prefill_seqs * host.chunk_us
        return (fixed_us + rows_us + steps.num_prefill_tokens * (host.prompt_1k_us * 1e-3)) * _US


class _Decodes:
    """Steps of decode rows alone."""

    def __init__(self, times: DecodeTimes) -> None:
        self._products = _products(times.products)
        self._sampled_row_s = times.sampled_row_us * _US

    def products(self, steps: StepColumns[Value]) -> Value:
        """Seconds of all that depends on sizes alone."""
        return self._products.at(_padded(steps)) * _US + steps.num_sampled * self._sampled_row_s


class _Prompts:
    """Steps with chunks."""

    def __init__(self, times: PromptTimes) -> None:
        self._products = _products(times.products)
        self._context = Curves(times.products.tokens, [times.context_per_1k_us], is_level_beyond=True)
        self._times = times

    def products(self, steps: StepColumns[Value]) -> Value:
        """Seconds of all that depends on sizes alone."""
        times, has_decodes = self._times, is_present(steps.num_decode_seqs)
        products_us = self._products.at(_padded(steps)) + has_decodes * times.beside_decodes_us
        rows_us = steps.num_sampled * times.sampled_row_us + steps.num_prefill_seqs * times.chunk_us
        return (products_us + rows_us) * _US

    def context(self, steps: StepColumns[Value]) -> Value:
        """Seconds of each token of the chunks' mean context."""
        return self._context.at(steps.num_prefill_tokens) * _PER_1K


def _products(times: ProductTimes) -> Curves:
    return Curves(times.tokens, [times.time_us])


def _num_tokens(steps: StepColumns[Value]) -> Value:
    return steps.num_prefill_tokens + steps.num_decode_seqs


def _padded(steps: StepColumns[Value]) -> Value:
    return larger(_num_tokens(steps), steps.graph_size)


def _grows(steps: StepColumns[Value]) -> Value:
    """1.0 for steps of decode rows alone in which some get blocks, else 0.0."""
    return (1.0 - is_present(steps.num_prefill_seqs)) * is_present(steps.num_new_blocks)


def _chosen(is_first: Value, first: float, second: float) -> Value:
    """`first` where the flag is 1.0, `second` where it is 0.0."""
    return is_first * first + (1.0 - is_first) * second
