"""Makes the engine's requests from a trace's."""

from hashlib import blake2b

from engine import HashedPrompt, Request, SamplingParams
from traces import TraceRequest


class PromptMaker:
    """Requests whose content is known by the trace's ids, or by nothing: then it is unique for each (seed, request)."""

    def __init__(self, trace_block_size: int, seed: int) -> None:
        """Prepare.

        Args:
            trace_block_size: prompt tokens that one content id stands for.
            seed: tells the unique contents of two runs apart.
        """
        self._block_size = trace_block_size
        self._seed = seed

    def request(self, row: TraceRequest) -> Request:
        """The request to hand to the scheduler; outputs have the trace's length whatever the tokens are."""
        name = f"{self._seed}:{row.request_id}"
        unique_id = int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), "little")
        prompt = HashedPrompt(row.input_length, row.hash_ids or (), self._block_size, unique_id)
        params = SamplingParams(max_tokens=row.output_length, ignore_eos=True)
        return Request(row.request_id, prompt, params, row.priority)
