"""The tokens that a model chose by itself, read again."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from engine import Batch
from sim.errors import SimError


class TokenSource(Protocol):
    """Gives a batch its output tokens; batches must come in the order in which they were made."""

    def sample(self, batch: Batch) -> tuple[int, ...]:
        """One token for each sampling row, in batch order."""
        ...


class LoggedTokens:
    """Output tokens by request and position, as `OutputLog` wrote them.

    A request that had not ended has none there. Its tokens are taken from `others`; they are another's only where two
    prompts and all outputs before are equal, so they decide nothing but hits between such twins.
    """

    def __init__(self, outputs: Mapping[str, Sequence[int]], others: TokenSource) -> None:
        """Take outputs by request id, and where to take tokens from beyond them."""
        self._outputs = outputs
        self._others = others
        self._prompt_lengths: dict[str, int] = {}

    def sample(self, batch: Batch) -> tuple[int, ...]:
        """One token for each sampling row, in batch order."""
        for request_id in batch.released:
            self._prompt_lengths.pop(request_id, None)
        for admission in batch.admitted:
            self._prompt_lengths[admission.request_id] = admission.prompt.num_tokens
        others = iter(self._others.sample(batch))
        rows = zip(batch.request_ids, batch.first_positions, batch.num_tokens, batch.samples, strict=True)
        return tuple([self._token(row, first + num, next(others)) for row, first, num, samples in rows if samples])

    def _token(self, request_id: str, position: int, other: int) -> int:
        output = self._outputs.get(request_id, ())
        index = position - self._prompt_lengths[request_id]
        return output[index] if index < len(output) else other


def load_outputs(path: Path, is_complete: bool) -> dict[str, tuple[int, ...]]:
    """Read what an `OutputLog` wrote; of a run that was stopped, the last line may be cut off.

    Raises:
        SimError: it cannot be read.
    """
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise SimError(f"{path} cannot be read ({error}); it holds the outputs of a run that kept its own.") from error
    outputs: dict[str, tuple[int, ...]] = {}
    for number, line in enumerate(lines, 1):
        try:
            row = json.loads(line)
            outputs[row["request_id"]] = tuple(map(int, row["token_ids"]))
        except (ValueError, KeyError, TypeError) as error:
            if number < len(lines) or is_complete:
                raise SimError(f"{path} line {number} is no output of a request ({error!r}).") from error
    return outputs
