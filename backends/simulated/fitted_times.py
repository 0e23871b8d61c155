"""The numbers of a fitted cost model: what the parts of a step take, in microseconds.

A field that ends in `_us` holds times, which a fit finds; the others say where tables have their points. No time is
negative.
"""

from dataclasses import dataclass

Row = tuple[float, ...]


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
class DecodeAttentionTimes:
    """Device time that decode rows add by their contexts.

    Tables have a line for each band of the step's longest context, as block tables come in a few widths, and a column
    for each number of rows in `rows`; linear in between, level beyond.

    Attributes:
        rows: points; rows of the graph, or decode rows in an eager step and beside chunks.
        context_limits: longest context of each band but the last.
        call_us: whatever the contexts.
        per_1k_tokens_us: for each 1,000 tokens of all contexts together.
        longest_per_1k_us: for each 1,000 tokens of the longest context.
    """

    rows: Row
    context_limits: Row
    call_us: tuple[Row, ...]
    per_1k_tokens_us: tuple[Row, ...]
    longest_per_1k_us: tuple[Row, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SkewTimes:
    """Device time that long contexts among shorter ones add: the others are done, and the device waits for them.

    Rows of like contexts have a time of their own: they are done in turns when there are more than the device holds.
    Tables have a line for each band of rows, and a column for each ratio in `ratios`; linear in between, level beyond.

    Attributes:
        ratios: points; longest context over the mean one.
        row_limits: most rows of the graph, or decode rows in an eager step, of each band but the last.
        longest_per_1k_us: for each 1,000 tokens of the longest context.
    """

    ratios: Row
    row_limits: Row
    longest_per_1k_us: tuple[Row, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodeTimes:
    """Device time of steps of decode rows alone.

    Attributes:
        products: by tokens.
        attention: by contexts.
        skew: by how much longer the longest context is.
        sampled_row_us: for each row that yields a token.
    """

    products: ProductTimes
    attention: DecodeAttentionTimes
    skew: SkewTimes
    sampled_row_us: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptTimes:
    """Device time of steps with prompt chunks.

    Attributes:
        products: by tokens.
        attention: what decode rows beside the chunks add.
        beside_decodes_us: if there are decode rows.
        sampled_row_us: for each row that yields a token.
        chunk_us: for each chunk.
        pairs_per_1m_us: for each million pairs of query and key, in the products of attention.
        lone_per_1k_us: at each of the points of products, for each 1,000 tokens of the step's longest context if there
            are decode rows: what reading it alone takes and much other work hides.
    """

    products: ProductTimes
    attention: DecodeAttentionTimes
    beside_decodes_us: float
    sampled_row_us: float
    chunk_us: float
    pairs_per_1m_us: float
    lone_per_1k_us: Row


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchTimes:
    """Least device time of an eager step: it waits for the host to launch its kernels one by one.

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
        block_us: for each block handed out.
        admission_us: for each request admitted.
        release_us: for each request that has left.
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

    decode: DecodeTimes
    prompts: PromptTimes
    launches: LaunchTimes
    host: HostTimes
