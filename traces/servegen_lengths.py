"""The length distributions of a ServeGen client."""

import ast
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt

from traces.errors import TraceError
from traces.trace_file import READ_ERRORS, open_trace_file

INPUT_FIELDS = ("input_tokens", "text_tokens", "image_tokens", "audio_tokens", "video_tokens")
OUTPUT_FIELD = "output_tokens"
MAX_TOKENS = 2**31 - 1
MAX_BYTES = 256 * 2**20


@dataclass(frozen=True, slots=True, eq=False)
class Pmf:
    """A distribution of whole numbers.

    Attributes:
        values: what can come, in rising order.
        shares: how often, summing to 1.
    """

    values: npt.NDArray[np.int64]
    shares: npt.NDArray[np.float64]

    def draw(self, rng: np.random.Generator, num: int) -> npt.NDArray[np.int64]:
        """Return `num` draws."""
        return rng.choice(self.values, num, p=self.shares)


@dataclass(frozen=True, slots=True)
class LengthWindow:
    """What requests look like from a time on.

    Attributes:
        start_s: when it begins.
        inputs: parts of a prompt, which add up.
        output: of the answer; None, as `inputs` are empty, where the client was idle.
    """

    start_s: float
    inputs: tuple[Pmf, ...]
    output: Pmf | None


def read_servegen_lengths(path: Path) -> tuple[LengthWindow, ...]:
    """Read the JSON file beside a client's rates: windows by their start, each with distributions by field.

    Raises:
        TraceError: there is no such file, or it is not what it must be.
    """
    try:
        with open_trace_file(path) as stream:
            content = stream.read(MAX_BYTES + 1)
    except READ_ERRORS as error:
        raise TraceError(f"{path}: the file is damaged or cut off ({error})") from error
    try:
        fields = msgspec.json.decode(content[:MAX_BYTES], type=dict[str, dict[str, str]])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        right = "a JSON object of windows by start in seconds, each an object of distributions as texts"
        raise TraceError(f"{path} must be {right} ({error})") from error
    windows = (_window(path, start, texts) for start, texts in fields.items())
    return tuple(sorted(windows, key=lambda window: window.start_s))


def _window(path: Path, start: str, texts: Mapping[str, str]) -> LengthWindow:
    if not (start.isascii() and start.isdecimal() and len(start) < 12):
        raise TraceError(f"{path}: a window starts at {start[:60]!r}, but it must be a whole number of seconds")
    missing = [OUTPUT_FIELD] if OUTPUT_FIELD not in texts else []
    if not any(field in texts for field in INPUT_FIELDS):
        missing.append(INPUT_FIELDS[0])
    if missing:
        raise TraceError(f"{path}: window {start} has no {', '.join(missing)}, the distribution of a length")
    output = _pmf(path, start, OUTPUT_FIELD, texts[OUTPUT_FIELD])
    inputs = [_pmf(path, start, field, texts[field]) for field in INPUT_FIELDS if field in texts]
    if output is None or None in inputs:
        return LengthWindow(float(start), (), None)
    return LengthWindow(float(start), tuple(pmf for pmf in inputs if pmf is not None), output)


def _pmf(path: Path, start: str, field: str, text: str) -> Pmf | None:
    """Return a distribution written as a Python dict, or None if it is empty."""
    where = f"{path}: window {start}, {field}"
    try:
        shares = ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        raise TraceError(f"{where} is {text[:60]!r}, but it must be a text like '{{45: 0.25, 46: 0.75}}'") from None
    if not isinstance(shares, dict):
        raise TraceError(f"{where} is {text[:60]!r}, but it must be a text like '{{45: 0.25, 46: 0.75}}'")
    for length, share in shares.items():
        if not (type(length) is int and 0 <= length <= MAX_TOKENS and type(share) in (int, float) and share >= 0):
            right = f"a number of tokens from 0 to {MAX_TOKENS} with a share from 0"
            raise TraceError(f"{where} has {length!r}: {share!r}, but each entry must be {right}")
    if not shares:
        return None
    total = math.fsum(shares.values())
    if not abs(total - 1) < 1e-3:
        raise TraceError(f"{where}: the shares sum to {total}, but they must sum to 1")
    lengths = sorted(shares)
    return Pmf(np.array(lengths, np.int64), np.array([shares[length] / total for length in lengths]))
