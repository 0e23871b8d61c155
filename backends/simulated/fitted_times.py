"""The numbers of a fitted cost model: what the parts of a step take, in microseconds.

A field that ends in `_us` holds times, which a fit finds; the others say where tables have their points. No time is
negative.
"""

from dataclasses import dataclass, fields, replace
from typing import TypeVar

Row = tuple[float, ...]
Part = TypeVar("Part", "LaunchTimes", "HostTimes")
_FIXED_SHARE = 0.2
"""Of the host's part at the reference speed: waits for driver and device, however quick the host is. Measured on an
H200 with five pairs of runs of one trace, one of each on a host 17 to 44 % slower; 0.03 to 0.46 in single pairs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProductTimes:
    """Device time of all that depends on the number of tokens alone: products, norms, activations, kernel gaps.

    Attributes:
        tokens: points; tokens of the step after padding to a graph.
        time_us: at each of them; linear in between and beyond.
    """

    tokens: Row
    time_us: Row


@dataclass(frozen=True, slots=True, kw_only=True)
class AttentionTimes:
    """Device time that decode rows add by their contexts, alone or beside chunks: the same kernel runs.

    Tables have a line for each band of the longest context of a decode row, as block tables come in a few widths and
    contexts are split by them, and a column for each number of rows in `rows`; linear in between, level beyond.

    The tail is what the longest context is longer than the mean of those that fill the device together: when they are
    done, it is still being read, by itself. How long those are follows from the mean and the standard deviation:

        contexts, longest first   ======================  longest        tail = longest - mean of the longest
                                  ================                              rows that fill the device
                                  ==============      } rows that
                                  ===========         } fill the device
                                  ===

    Attributes:
        rows: points; rows of the graph, padded, or decode rows of an eager step.
        context_limits: longest context of each band but the last.
        full_rows: rows of one context that fill the device.
        top_spreads: at each of `rows`, taken as decode rows: standard deviations of the contexts by which the mean of
            the longest `full_rows` lies above that of all; 0 for fewer rows than fill the device, whose mean counts
            those that are missing as 0.
        shared_saving: of the time of a token of context, what it takes less if another of the rows that fill the device
            reads the same block, which is in the device's cache then; 0 to 1.
        call_us: whatever the contexts.
        even_us: by how even contexts are, from 1 for equal ones to 1 / rows for a single long one.
        per_1k_tokens_us: for each 1,000 tokens of all contexts together.
        tail_per_1k_us: for each 1,000 tokens of the tail.
    """

    rows: Row
    context_limits: Row
    full_rows: float
    top_spreads: Row
    shared_saving: float
    call_us: tuple[Row, ...]
    even_us: tuple[Row, ...]
    per_1k_tokens_us: tuple[Row, ...]
    tail_per_1k_us: tuple[Row, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodeTimes:
    """Device time of steps of decode rows alone, but for attention.

    Attributes:
        products: by tokens.
        sampled_row_us: for each row that yields a token.
    """

    products: ProductTimes
    sampled_row_us: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptTimes:
    """Device time of steps with prompt chunks, but for the attention of decode rows.

    Attributes:
        products: by tokens.
        beside_decodes_us: if there are decode rows.
        sampled_row_us: for each row that yields a token.
        chunk_us: for each chunk.
        pairs_per_1m_us: for each million pairs of query and key, in the products of attention.
        context_per_1k_us: at each of the points of products, for each 1,000 tokens of the chunks' mean context: what
            few query tokens take to read it, and many hide.
    """

    products: ProductTimes
    beside_decodes_us: float
    sampled_row_us: float
    chunk_us: float
    pairs_per_1m_us: float
    context_per_1k_us: Row


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchTimes:
    """Least device time of an eager step: it waits for the host to launch its kernels one by one.

    As host times are, these are those of a host of the reference speed, if the data say how quick theirs was.

    Attributes:
        decode_us: of a step of decode rows alone.
        prompts_us: of a step of chunks alone.
        mixed_us: of a step of both.
    """

    decode_us: float
    prompts_us: float
    mixed_us: float


@dataclass(frozen=True, slots=True, kw_only=True)
class HostTimes:
    """Time of a step in which the device is idle, since the host schedules, prepares, updates and records.

    Attributes:
        decode_us: of a step of decode rows in a graph.
        prompts_us: of a step with chunks in a graph.
        eager_decode_us: of a step of decode rows without a graph.
        eager_prompts_us: of a step with chunks without a graph.
        row_us: for each row.
        chunk_us: for each chunk, on top.
        prompt_1k_us: for each 1,000 prompt tokens.
        context_1k_us: for each 1,000 tokens of the decode rows' contexts, whose blocks are listed for the device.
        block_us: of a step of decode rows alone in which some get blocks; those of chunks count with their tokens.
        admission_us: for each request admitted.
        release_us: of a step before which requests have left: its inputs are others than were foreseen.
        stalls_us: when something else takes the processor, on average of all steps.
    """

    decode_us: float
    prompts_us: float
    eager_decode_us: float
    eager_prompts_us: float
    row_us: float
    chunk_us: float
    prompt_1k_us: float
    context_1k_us: float
    block_us: float
    admission_us: float
    release_us: float
    stalls_us: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedTimes:
    """All of them."""

    attention: AttentionTimes
    decode: DecodeTimes
    prompts: PromptTimes
    launches: LaunchTimes
    host: HostTimes

    def on_host(self, slowness: float) -> "FittedTimes":
        """The same on a host that takes `slowness` times as long for all it does itself."""
        return replace(self.launched_by(slowness), host=_scaled(self.host, host_factor(slowness)))

    def launched_by(self, slowness: float) -> "FittedTimes":
        """The same with launches by such a host: device times of eager steps; its own times stay what they are."""
        return replace(self, launches=_scaled(self.launches, slowness))


def host_factor(slowness: float) -> float:
    """How many times as long the host's part of a step is on a host that takes `slowness` times as long."""
    return _FIXED_SHARE + (1 - _FIXED_SHARE) * slowness


def _scaled(times: Part, factor: float) -> Part:
    return type(times)(**{field.name: factor * getattr(times, field.name) for field in fields(times)})
