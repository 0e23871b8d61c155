"""Makes the engine's requests from a trace's."""

from collections.abc import Mapping, Sequence
from hashlib import blake2b

from engine import HashedPrompt, Prompt, Request, SamplingParams, TokenPrompt
from traces import TraceRequest


class PromptMaker:
    """Requests whose content is known by tokens, by the trace's ids, or not: then it is unique for (seed, request)."""

    def __init__(self, trace_block_size: int, seed: int, token_ids: Mapping[str, Sequence[int]]) -> None:
        """Prepare.

        Args:
            trace_block_size: prompt tokens that one content id stands for.
            seed: tells the unique contents of two runs apart.
            token_ids: of prompts whose tokens are known, by request id.
        """
        self._block_size = trace_block_size
        self._seed = seed
        self._token_ids = token_ids

    def request(self, row: TraceRequest) -> Request:
        """The request to hand to the scheduler; outputs have the trace's length whatever the tokens are."""
        params = SamplingParams(max_tokens=row.output_length, ignore_eos=True)
        return Request(row.request_id, self._prompt(row), params, row.priority)

    def _prompt(self, row: TraceRequest) -> Prompt:
        if row.request_id in self._token_ids:
            return TokenPrompt(self._token_ids[row.request_id][: row.input_length])
        name = f"{self._seed}:{row.request_id}"
        unique_id = int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), "little")
        return HashedPrompt(row.input_length, row.hash_ids or (), self._block_size, unique_id)
