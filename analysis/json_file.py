"""A JSON object in a file of its own, replaced as a whole so that a reader never sees half of it."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from analysis.errors import RunError
from traces.whole_file import whole_file


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Writes `value` to `path`; NaN and infinity have no place in JSON and are a bug of ours."""
    text = json.dumps(value, indent=2, allow_nan=False, ensure_ascii=False) + "\n"
    with whole_file(path) as draft:
        # A file name that is not UTF-8 holds lone surrogates; escaped like this they are JSON again.
        draft.write_text(text, encoding="utf-8", errors="backslashreplace")


def read_json(path: Path) -> dict[str, Any]:
    """Reads the JSON object in `path`.

    Raises:
        RunError: it cannot be read, is not JSON, or is not an object.
    """
    text = read_text(path)
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RunError(f"{path} is not valid JSON ({error}); the file is damaged or not part of a run.") from error
    if not isinstance(value, dict):
        raise RunError(f"{path} holds a JSON {type(value).__name__}, but an object is needed.")
    return value


def read_text(path: Path) -> str:
    """Reads a file of text.

    Raises:
        RunError: it cannot be read, or is not UTF-8.
    """
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise RunError(f"{path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise RunError(f"{path} is not UTF-8 text ({error}).") from error
