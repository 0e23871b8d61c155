"""Counts tokens of texts with a tokenizer file."""

from pathlib import Path

from traces.errors import TraceError


class TextTokenizer:
    """A tokenizer of the `tokenizers` library.

    Args:
        path: `tokenizer.json`, or a folder that holds it.

    Raises:
        TraceError: the library or the file is missing, or the file is no tokenizer.
    """

    def __init__(self, path: str) -> None:
        try:
            from tokenizers import Tokenizer  # only texts need it, and it takes long to load
        except ImportError:
            raise TraceError(
                "texts need a tokenizer, but the package tokenizers is not installed; install twinserve[text]"
            ) from None
        file = Path(path)
        file = file / "tokenizer.json" if file.is_dir() else file
        if not file.is_file():
            raise TraceError(f"{file} does not exist; name a tokenizer.json, or a folder that holds one")
        try:
            self._tokenizer = Tokenizer.from_file(str(file))
        except Exception as error:  # the library raises nothing narrower
            raise TraceError(f"{file} is no tokenizer ({error})") from error
        self.name = str(path)

    def num_tokens(self, texts: list[str]) -> list[int]:
        """Return the number of tokens of each text, special ones not added."""
        return [len(encoding) for encoding in self._tokenizer.encode_batch(texts, add_special_tokens=False)]
