"""The tokens that a model chose by itself."""

import json
from pathlib import Path

from engine import Ended, Tokenizer


class OutputLog:
    """Writes one JSON line a request: its id, token ids and, with a tokenizer, text."""

    def __init__(self, path: Path, tokenizer: Tokenizer | None) -> None:
        """Open `path` for writing."""
        self._file = path.open("w", encoding="utf-8")
        self._tokenizer = tokenizer

    def add(self, ended: Ended) -> None:
        """Write one request's output."""
        row: dict[str, object] = {"request_id": ended.request_id, "token_ids": ended.output_ids}
        if self._tokenizer is not None:
            row["text"] = self._tokenizer.decode(ended.output_ids)
        self._file.write(json.dumps(row) + "\n")

    def close(self) -> None:
        """Write what is left."""
        self._file.close()


class NoLog:
    """Keeps nothing: the outputs are the replay's own."""

    def add(self, _: Ended) -> None:
        """Nothing."""

    def close(self) -> None:
        """Nothing."""
