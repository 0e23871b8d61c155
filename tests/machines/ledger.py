"""What each request must come to, known from the start because the checking backend's tokens follow from the prompt."""

from collections import Counter

from engine import Ended, Limits, Request
from tests.kv_checking_backend import Entry, entries_of, prompt_tokens, uninterrupted


class Ledger:
    """Foresees the outputs and the block contents of every request, and counts how often each one ends."""

    def __init__(self, limits: Limits) -> None:
        """Start empty."""
        self._limits = limits
        self._outputs: dict[str, list[int]] = {}
        self._entries_of_key: dict[int, list[Entry]] = {}
        self.num_added = Counter[str]()
        self.num_ended = Counter[str]()

    def add(self, request: Request) -> None:
        """Foresee a request that was accepted."""
        outputs = self._foresee(request)
        self._outputs[request.request_id] = outputs
        self.num_added[request.request_id] += 1
        entries = entries_of([*prompt_tokens(request.prompt), *outputs])
        block_size = self._limits.block_size
        keys = request.prompt.block_keys(outputs, block_size)
        for i in range(len(entries) // block_size):
            key = keys[i]
            content = entries[i * block_size : (i + 1) * block_size]
            assert self._entries_of_key.setdefault(key, content) == content, "one key stands for two contents"

    def end(self, ended: Ended) -> None:
        """Check an end against what was foreseen."""
        right = self._outputs[ended.request_id]
        assert list(ended.output_ids) == right[: len(ended.output_ids)], f"{ended} should be {right}"
        assert ended.status != "finished" or len(ended.output_ids) == len(right), f"{ended} should be {right}"
        self.num_ended[ended.request_id] += 1

    def content_of(self, key: int) -> list[Entry]:
        """What a block with this key must hold."""
        return self._entries_of_key[key]

    def _foresee(self, request: Request) -> list[int]:
        params = request.params
        room = min(params.max_tokens, self._limits.max_model_len - request.prompt.num_tokens)
        outputs = uninterrupted(request.prompt, room)
        stops = [i for i, token_id in enumerate(outputs) if token_id in params.stop_token_ids]
        return outputs[: stops[0] + 1] if stops else outputs
