"""The tokenizer of a Hugging Face folder, as the engine wants it."""

import json
import reprlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backends.qwen3.errors import ModelError
from backends.qwen3.text_decoder import TextDecoder
from engine.errors import RequestError

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

_FILES = ("tokenizer.json", "tokenizer_config.json", "vocab.json", "tokenizer.model")


class HFTokenizer:
    """Satisfies `engine.Tokenizer`.

    Args:
        tokenizer: of transformers.
        end_token_ids: all tokens that end an output.
    """

    def __init__(self, tokenizer: "PreTrainedTokenizerBase", end_token_ids: frozenset[int]) -> None:
        self._tokenizer = tokenizer
        self._end_token_ids = end_token_ids

    @classmethod
    def from_folder(cls, folder: Path) -> "HFTokenizer | None":
        """The tokenizer of a model folder; None if it has no file of one, as a folder for timing may be.

        Raises:
            ModelError: its files are broken.
        """
        if not any((folder / name).exists() for name in _FILES):
            return None
        from transformers import AutoTokenizer  # takes seconds, and timing runs do without

        try:
            tokenizer = AutoTokenizer.from_pretrained(str(folder))
        except Exception as error:  # any, from several libraries
            raise ModelError(
                f"{folder} holds no readable tokenizer ({_first_line(error)}); download its tokenizer files again."
            ) from None
        return cls(tokenizer, _end_token_ids(folder, tokenizer.eos_token_id))

    @property
    def end_token_ids(self) -> frozenset[int]:
        """All tokens that end an output: those of generation_config.json, and the tokenizer's own."""
        return self._end_token_ids

    def encode(self, text: str) -> list[int]:
        """Token ids of `text`; special tokens written out in it count as such."""
        return list(self._tokenizer.encode(text))

    def decode(self, token_ids: Sequence[int]) -> str:
        """Text of `token_ids`, special tokens left out."""
        text = self._tokenizer.decode(list(token_ids), skip_special_tokens=True, clean_up_tokenization_spaces=False)
        assert isinstance(text, str)
        return text

    def decoder(self) -> TextDecoder:
        """A new incremental decoder, for one request."""
        return TextDecoder(self.decode)

    def chat(self, messages: Sequence[Mapping[str, str]]) -> str:
        """`messages` laid out by the model's chat template, ready for the answer.

        Raises:
            ModelError: the model has no chat template.
            RequestError: the template cannot lay these messages out.
        """
        if not self._tokenizer.chat_template:
            raise ModelError("The model has no chat template; give it a plain prompt, or add a chat_template.jinja.")
        try:
            conversation = [dict(message) for message in messages]
            text = self._tokenizer.apply_chat_template(conversation, tokenize=False, add_generation_prompt=True)
        except Exception as error:  # whatever a template does with messages that it does not expect
            raise RequestError(
                f"The chat template cannot lay out {reprlib.repr(messages)} ({_first_line(error)}); give a list of "
                f"messages such as {{'role': 'user', 'content': '...'}}."
            ) from None
        assert isinstance(text, str)
        return text

    def check_vocabulary(self, vocab_size: int) -> None:
        """Raise ModelError if there are tokens that a model with `vocab_size` tokens does not know."""
        largest = max(self._tokenizer.get_vocab().values(), default=0)  # their number may be smaller: ids have gaps
        if largest >= vocab_size:
            raise ModelError(
                f"The tokenizer has token id {largest} and the model knows 0 to {vocab_size - 1}; the tokenizer files "
                f"and config.json must be of the same model."
            )


def _end_token_ids(folder: Path, own: int | None) -> frozenset[int]:
    """Ids in generation_config.json, else in config.json, which older folders have alone; and the tokenizer's own."""
    ids = set() if own is None else {own}
    for name in ("generation_config.json", "config.json"):
        found = _read(folder / name).get("eos_token_id")
        if found is not None:
            ids.update(found if isinstance(found, list) else [found])
            break
    if not all(isinstance(token_id, int) for token_id in ids):
        raise ModelError(f"{folder / name}: eos_token_id is {found!r}; it must be a token id, or a list of them.")
    return frozenset(ids)


def _read(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {}
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(f"{path} is not readable as JSON ({error}); download it again.") from None
    return values if isinstance(values, dict) else {}


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
