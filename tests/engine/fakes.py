"""A backend and a tokenizer small enough to know every token and every character by heart."""

import codecs
from collections.abc import Mapping, Sequence

from engine import Batch, IncrementalDecoder, StepResult

END_TOKEN = 256


class ScriptedBackend:
    """The k-th output token of every request is the k-th of the script, over and over again.

    Attributes:
        batches: all batches so far.
        errors: what `execute` raises instead of computing, by step.
        failed: rows that fail, with the reason, by step.
        is_closed: whether it was closed.
    """

    def __init__(self, script: Sequence[int], num_blocks: int = 64) -> None:
        """Start without any request."""
        self.num_blocks = num_blocks
        self.batches: list[Batch] = []
        self.errors: dict[int, BaseException] = {}
        self.failed: dict[int, dict[str, str]] = {}
        self.is_closed = False
        self._script = script
        self._num_prompt_tokens: dict[str, int] = {}

    def execute(self, batch: Batch) -> StepResult:
        """Give each sampling row its next token."""
        assert len(batch), "an empty batch never reaches the backend"
        self.batches.append(batch)
        if batch.step in self.errors:
            raise self.errors[batch.step]
        for admission in batch.admitted:
            self._num_prompt_tokens[admission.request_id] = admission.prompt.num_tokens
        columns = zip(batch.request_ids, batch.first_positions, batch.num_tokens, batch.samples, strict=True)
        tokens = [
            self._script[(first + count - self._num_prompt_tokens[name]) % len(self._script)]
            for name, first, count, samples in columns
            if samples
        ]
        return StepResult(tuple(tokens), 0.0, 0.0, failed=self.failed.get(batch.step, {}))

    def close(self) -> None:
        """Remember it."""
        self.is_closed = True


class ByteTokenizer:
    """A token is a byte of UTF-8, so that characters take one to four tokens; 256 ends an output."""

    end_token_ids = frozenset({END_TOKEN})

    def encode(self, text: str) -> list[int]:
        """Bytes of `text`."""
        return list(text.encode())

    def decode(self, token_ids: Sequence[int]) -> str:
        """Text of bytes; the end token has none."""
        return bytes(token for token in token_ids if token < END_TOKEN).decode(errors="replace")

    def decoder(self) -> IncrementalDecoder:
        """Holds bytes back until they make a character."""
        return ByteDecoder()

    def chat(self, messages: Sequence[Mapping[str, str]]) -> str:
        """One line a message, then the answer's."""
        return "".join(f"{message['role']}: {message['content']}\n" for message in messages) + "assistant: "


class ByteDecoder:
    """Incremental UTF-8."""

    def __init__(self) -> None:
        """Start at a character's first byte."""
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")

    def add(self, token_id: int) -> str:
        """Characters that this byte completes."""
        return self._decoder.decode(bytes([token_id])) if token_id < END_TOKEN else ""

    def finish(self) -> str:
        """A replacement character if one was cut short."""
        return self._decoder.decode(b"", final=True)
