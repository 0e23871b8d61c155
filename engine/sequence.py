"""A live request: its tokens, its blocks, and how far it has been computed."""

from engine.block_run import BlockRun
from engine.request import Request


class Sequence:
    """State of one request between `add` and its end.

        position   0 ............... num_computed_tokens ......... num_tokens ........ stop_at
                   | KV is in the cache | known, not computed      | to be generated   |
        blocks     [=====][=====][=====][==...]                    capacity = len(block_table) x block size

    Attributes:
        request: what was asked.
        request_id: its id.
        number: order of arrival, from 0; unique.
        num_prompt_tokens: length of the prompt.
        output_ids: tokens generated so far.
        num_computed_tokens: leading tokens whose KV is in the cache, or will be when the running step ends.
        block_table: block ids in order.
        num_outputs_before: outputs that it had when it got these blocks.
        keys: keys of its leading full blocks.
        num_registered: leading blocks whose key is known to the block manager.
        newest_run: the run that the last of these is in.
        quiet_until: a decode step that starts with fewer computed tokens needs nothing of the block manager.
        stop_at: length at which it ends.
        stop_ids: tokens that end it.
        num_preemptions: times that it lost its blocks.
        was_admitted: whether it ever got blocks.
        is_running: whether it is in the running set; a live sequence that is not waits.
        is_live: False once it has ended.
    """

    __slots__ = (
        "block_table",
        "is_live",
        "is_running",
        "keys",
        "newest_run",
        "num_computed_tokens",
        "num_outputs_before",
        "num_preemptions",
        "num_prompt_tokens",
        "num_registered",
        "number",
        "output_ids",
        "quiet_until",
        "request",
        "request_id",
        "stop_at",
        "stop_ids",
        "was_admitted",
    )

    def __init__(self, request: Request, number: int, stop_at: int, stop_ids: frozenset[int], block_size: int) -> None:
        """Start with nothing computed."""
        self.request = request
        self.request_id = request.request_id
        self.number = number
        self.num_prompt_tokens = request.prompt.num_tokens
        self.output_ids: list[int] = []
        self.num_computed_tokens = 0
        self.block_table: list[int] = []
        self.num_outputs_before = 0
        self.keys = request.prompt.block_keys(self.output_ids, block_size)
        self.num_registered = 0
        self.newest_run: BlockRun | None = None
        self.quiet_until = 0
        self.stop_at = stop_at
        self.stop_ids = stop_ids
        self.num_preemptions = 0
        self.was_admitted = False
        self.is_running = False
        self.is_live = True

    @property
    def num_tokens(self) -> int:
        """Tokens known so far: prompt and outputs."""
        return self.num_prompt_tokens + len(self.output_ids)

    @property
    def num_remaining(self) -> int:
        """Known tokens that are not computed yet; 1 when decoding."""
        return self.num_prompt_tokens + len(self.output_ids) - self.num_computed_tokens

    @property
    def num_steps_left(self) -> int:
        """Decode steps until it ends by length, if all that is known but its newest token is computed."""
        return self.stop_at - 1 - self.num_computed_tokens

    @property
    def is_proven(self) -> bool:
        """Whether it has got a token since it got its blocks, so that all that they held then is sound.

        Chunks give no logits: what they have written, or have hit, may be spoilt without anyone having noticed.
        """
        return len(self.output_ids) > self.num_outputs_before

    @property
    def priority(self) -> int:
        """Smaller is more urgent."""
        return self.request.priority

    @property
    def urgency(self) -> tuple[int, int]:
        """Sort key of priority order: priority, then arrival."""
        return self.request.priority, self.number

    def __repr__(self) -> str:
        """Id and progress, for messages."""
        return f"Sequence({self.request_id!r}, {self.num_computed_tokens}/{self.num_tokens} tokens computed)"
