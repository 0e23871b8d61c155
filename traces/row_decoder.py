"""JSON lines as checked rows."""

import json
import math
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import Generic, TypeVar, cast

import msgspec

from traces.trace_lines import TraceLines

Row = TypeVar("Row", bound=msgspec.Struct)
MAX_SHOWN = 60


class RowDecoder(Generic[Row]):
    """Decodes the lines of one file; a field that the row type does not know is counted and passed over.

    Args:
        row_type: the fields with their types and bounds.
        meanings: for each field, what it must be, as it fits behind "it must be".
        lines: the file, for errors.
        unused: fields that the format is known to have, which are passed over without a word.
    """

    def __init__(
        self, row_type: type[Row], meanings: Mapping[str, str], lines: TraceLines, unused: Collection[str] = ()
    ) -> None:
        passed_over = [(name, msgspec.Raw | msgspec.UnsetType, msgspec.UNSET) for name in unused]
        closed_type = msgspec.defstruct(row_type.__name__, passed_over, bases=(row_type,), forbid_unknown_fields=True)
        self._closed: msgspec.json.Decoder[Row] = msgspec.json.Decoder(cast(type[Row], closed_type))
        self._open = msgspec.json.Decoder(row_type)
        self._keys = msgspec.json.Decoder(dict[str, msgspec.Raw])
        self._meanings = meanings
        self._known = {*meanings, *unused}
        self._lines = lines
        self._unknown: Counter[str] = Counter()
        self._row_type = row_type
        self._num_fractional = 0

    def decode(self, line: int, content: bytes) -> Row:
        """Return one line as a row.

        Raises:
            TraceError: it is not a JSON object, or a field is missing or not what it must be.
        """
        try:
            return self._closed.decode(content)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return self._decode_slowly(line, content)

    def _decode_slowly(self, line: int, content: bytes) -> Row:
        try:
            row = self._decode_open(content)
            self._unknown.update(self._keys.decode(content).keys() - self._known)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise self._lines.error(line, self._explain(content, str(error))) from error
        return row

    def _decode_open(self, content: bytes) -> Row:
        try:
            return self._open.decode(content)
        except msgspec.ValidationError:
            # A table of numbers with gaps, such as a pandas frame, is written with 20.0 for 20.
            value = msgspec.json.decode(content)
            whole = _with_whole_numbers(value)
            with suppress(msgspec.ValidationError):
                row = msgspec.convert(whole, self._row_type)
                self._num_fractional += 1
                return row
            raise

    @property
    def notices(self) -> tuple[str, ...]:
        """Sentences about unknown fields and about whole numbers that are written as fractions, if there were any."""
        fields = ", ".join(f"{name} ({num_rows} rows)" for name, num_rows in sorted(self._unknown.items()))
        unknown = (f"Unknown fields were ignored: {fields}.",) if fields else ()
        num = self._num_fractional
        return (*unknown, *((f"Whole numbers are written as fractions, such as 20.0, in {num} rows.",) if num else ()))

    def _explain(self, content: bytes, reason: str) -> str:
        try:
            row = json.loads(content)  # unlike msgspec it reads NaN and Infinity, which can be named then
        except (ValueError, RecursionError):
            text = _shown(repr(content.decode(errors="replace")))
            return f"not valid JSON ({reason}), but each line must be one JSON object: {text}"
        if not isinstance(row, dict):
            return f"the line is {_shown(json.dumps(row))}, but it must be one JSON object"
        found = re.search(r"at `\$((?:\.\w+|\[\d+\])*)", reason)
        path = re.findall(r"\w+", found[1]) if found else []
        missing = re.search(r"missing required field `([^`]*)`", reason)
        if missing:
            return f"{_place([*path, missing[1]])} is missing; it must be {self._meaning(missing[1])}"
        path = path or self._not_finite(row)
        return self._wrong_field(row, path) if path else f"not valid JSON ({reason})"

    def _wrong_field(self, row: object, path: Sequence[str]) -> str:
        value = row
        for step in path:
            if isinstance(value, list):
                value = value[int(step)]
            elif isinstance(value, dict):
                value = value.get(step)
        field = next(step for step in reversed(path) if not step.isdigit())
        return f"{_place(path)} is {_shown(json.dumps(value))}, but {field} must be {self._meaning(field)}"

    def _meaning(self, field: str) -> str:
        return self._meanings.get(field, "another kind of value")

    def _not_finite(self, row: Mapping[str, object]) -> list[str]:
        for field in self._meanings:
            value = row.get(field)
            items = value if isinstance(value, list) else [value]
            for index, item in enumerate(items):
                if isinstance(item, float) and not math.isfinite(item):
                    return [field, str(index)] if isinstance(value, list) else [field]
        return []


def _with_whole_numbers(value: object) -> object:
    """Return a JSON value with each number that is whole as an int."""
    if isinstance(value, dict):
        return {name: _with_whole_numbers(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_with_whole_numbers(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 2**53 else value


def _place(path: Sequence[str]) -> str:
    """Return `requests[3].out` for the steps requests, 3, out."""
    return "".join(f"[{step}]" if step.isdigit() else f".{step}" for step in path).removeprefix(".")


def _shown(text: str) -> str:
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}..."
