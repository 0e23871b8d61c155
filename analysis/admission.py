"""What kept waiting requests out of a step."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.run_columns import RunColumns
from analysis.run_meta import MAX_COUNT
from analysis.step_columns import Ints


class Hold(IntEnum):
    """The limit that held the queue in a step; NOTHING if no request was left waiting."""

    NOTHING = 0
    TOKENS = 1
    SEQUENCES = 2
    KV_BLOCKS = 3

    @property
    def label(self) -> str:
        """Its name in running text."""
        return {0: "nothing", 1: "the token budget", 2: "the sequence limit", 3: "KV blocks"}[self]

    @property
    def flag(self) -> str:
        """What sets it on the command line."""
        return {0: "", 1: "--max-num-batched-tokens", 2: "--max-num-seqs", 3: "--num-blocks"}[self]


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmissionLimits:
    """The settings that bound admission; None where unknown. Made by `of`.

    Attributes:
        max_num_seqs: most sequences that run.
        max_num_batched_tokens: token budget of a step.
        chunked_prefill: whether any budget that is left lets the next request in, if only with a part of its prompt.
        block_size: tokens in a KV block.
        num_kv_blocks: KV blocks of the engine.
    """

    max_num_seqs: int | None
    max_num_batched_tokens: int | None
    chunked_prefill: bool
    block_size: int | None
    num_kv_blocks: int

    @classmethod
    def of(cls, meta: Mapping[str, Any]) -> "AdmissionLimits":
        """Takes the settings from `meta.json`; a value that is no positive integer is unknown."""
        settings = meta["settings"]
        return cls(
            max_num_seqs=_positive(settings.get("max_num_seqs")),
            max_num_batched_tokens=_positive(settings.get("max_num_batched_tokens")),
            chunked_prefill=settings.get("chunked_prefill") is True,
            block_size=_positive(settings.get("block_size")),
            num_kv_blocks=meta["num_kv_blocks"],
        )

    @property
    def sizes(self) -> dict[str, int | None]:
        """How large each limit is, by lower-case name of `Hold`; None where unknown."""
        return {
            "tokens": self.max_num_batched_tokens,
            "sequences": self.max_num_seqs,
            "kv_blocks": self.num_kv_blocks,
        }

    def holds(self, columns: RunColumns) -> NDArray[np.int8]:
        """Returns the `Hold` of each step.

        It is NOTHING if the step left no request waiting, else the first of these that applies:
        sequences: as many ran as `max_num_seqs` allows;
        KV blocks: a running request was preempted;
        tokens: the step computed as many tokens as `max_num_batched_tokens` allows;
        KV blocks: nothing else is left; but where a prompt must fit into the budget as a whole, only if fewer blocks
            were free than the longest request of the run needs, else tokens.
        """
        steps = columns.steps
        is_preempting = np.isin(np.arange(len(steps)), columns.preemptions.position)
        conditions = [
            steps.num_waiting == 0,
            _reaches(steps.num_running, self.max_num_seqs),
            is_preempting,
            _reaches(steps.num_tokens, self.max_num_batched_tokens),
            np.full(len(steps), self.chunked_prefill),
            self.num_kv_blocks - steps.num_used_blocks < self._largest_need(columns),
        ]
        outcomes = [Hold.NOTHING, Hold.SEQUENCES, Hold.KV_BLOCKS, Hold.TOKENS, Hold.KV_BLOCKS, Hold.KV_BLOCKS]
        return np.select(conditions, [np.int8(hold) for hold in outcomes], np.int8(Hold.TOKENS))

    def _largest_need(self, columns: RunColumns) -> int:
        if self.block_size is None:
            return self.num_kv_blocks
        num_tokens = columns.requests.input_tokens + columns.requests.output_tokens
        return -(-int(num_tokens.max(initial=0)) // self.block_size)


def _reaches(values: Ints, limit: int | None) -> NDArray[np.bool_]:
    return np.zeros(len(values), np.bool_) if limit is None else values >= limit


def _positive(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= MAX_COUNT else None
