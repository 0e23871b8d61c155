"""The result file of `vllm bench serve --save-result --save-detailed`.

Per request it holds lists of equal length: `input_lens`, `output_lens`, `ttfts`, `itls` (a list each) and `errors`;
since January 2026 also `start_times` (vllm-project/vllm#32667), since 0.30 `queue_times` and `latencies` (#54136).
Times are seconds. Everything else at the top level describes the benchmark or sums it up.
"""

import json
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.errors import RunError
from analysis.json_file import read_text
from traces.time_quantum import MAX_TIME_S

_NEEDED = ("input_lens", "output_lens", "ttfts", "itls", "errors")
_OPTIONAL = ("start_times", "queue_times")
_MAX_TOKENS = 2**31 - 1
_LISTS = (*_NEEDED, *_OPTIONAL, "generated_texts", "latencies")


@dataclass(frozen=True, slots=True)
class VllmRequest:
    """What a client saw of one request.

    Attributes:
        input_tokens: prompt length.
        output_tokens: tokens of the answer, as the server or the client's tokenizer counts them.
        ttft_s: start to first chunk, in seconds.
        itls_s: time from chunk to chunk, in seconds; a chunk may hold several tokens, or none.
        error: why it failed; None if it did not.
        start_s: when it was sent, on the client's clock; None if not recorded, or if it failed before.
        queue_s: how long the client had held it back by then.
    """

    input_tokens: int
    output_tokens: int
    ttft_s: float
    itls_s: tuple[float, ...]
    error: str | None
    start_s: float | None
    queue_s: float


@dataclass(frozen=True, slots=True)
class VllmResult:
    """A result file. Made by `read`.

    Attributes:
        requests: in the order of the file.
        totals: whatever is not a list: settings of the benchmark and its own figures.
        has_texts: whether it holds the answers.
    """

    requests: tuple[VllmRequest, ...]
    totals: dict[str, Any]
    has_texts: bool

    @classmethod
    def read(cls, path: Path) -> "VllmResult":
        """Reads a file and checks it.

        Raises:
            RunError: it cannot be read, is no such result, has no detail, or holds a value that cannot be.
        """
        values = _read(path)
        missing = [name for name in _NEEDED if values.get(name) is None]
        if missing:
            raise RunError(
                f"{path} has no {', '.join(missing)}; let vllm bench serve write it with --save-result --save-detailed."
            )
        lists = {name: _checked_list(path, name, values[name]) for name in _LISTS if values.get(name) is not None}
        lengths = {name: len(items) for name, items in lists.items()}
        if len(set(lengths.values())) > 1:
            raise RunError(f"{path}: lists with one entry a request differ in length: {lengths}; the file is damaged.")
        requests = tuple(_request(path, row, lists) for row in range(lengths["input_lens"]))
        if not requests:
            raise RunError(f"{path} holds no request.")
        totals = {name: value for name, value in values.items() if not isinstance(value, list)}
        return cls(requests, totals, "generated_texts" in lists)

    @property
    def has_start_times(self) -> bool:
        """Whether it says when requests were sent, but perhaps of those that failed."""
        starts = [request.start_s for request in self.requests if request.error is None]
        return bool(starts) and None not in starts

    @property
    def is_all_at_once(self) -> bool:
        """Whether all requests were sent at the start, so that their times are known without being recorded."""
        rate, ramp = self.totals.get("request_rate"), self.totals.get("ramp_up_strategy")
        return rate in ("inf", math.inf) and self.totals.get("max_concurrency") is None and ramp is None


def _read(path: Path) -> dict[str, Any]:
    text = read_text(path)
    try:
        values = json.loads(text)
    except json.JSONDecodeError as error:
        if error.msg == "Extra data":
            raise RunError(
                f"{path} holds more than one result (--append-result); keep one in a file of its own."
            ) from error
        raise RunError(f"{path} is not JSON ({error}); name the file that vllm bench serve has written.") from error
    except (ValueError, RecursionError) as error:
        raise RunError(f"{path} is not JSON ({error}); name the file that vllm bench serve has written.") from error
    if not isinstance(values, dict):
        raise RunError(f"{path} holds a JSON {type(values).__name__}, but a result of vllm bench serve is an object.")
    return values


def _checked_list(path: Path, name: str, value: object) -> Sequence[Any]:
    if not isinstance(value, list):
        raise RunError(f"{path}: {name} is {_short(value)}, but it must be a list with one entry a request.")
    return value


def _request(path: Path, row: int, lists: dict[str, Sequence[Any]]) -> VllmRequest:
    def number(name: str) -> float:
        return _number(path, f"{name}[{row}]", lists[name][row], 0.0, MAX_TIME_S)

    def start() -> float:
        # Of a clock that may have begun at any time.
        return _number(path, f"start_times[{row}]", lists["start_times"][row], -sys.float_info.max, sys.float_info.max)

    itls = lists["itls"][row]
    if not isinstance(itls, list):
        raise RunError(f"{path}: itls[{row}] is {_short(itls)}, but it must be a list of seconds.")
    input_tokens = _count(path, f"input_lens[{row}]", lists["input_lens"][row], 1)
    output_tokens = _count(path, f"output_lens[{row}]", lists["output_lens"][row], 0)
    ttft_s, error = number("ttfts"), _error(path, row, lists["errors"][row])
    if error is None and not ttft_s and output_tokens:
        raise RunError(
            f"{path}: request {row} has tokens but a ttft of 0; only a benchmark that streams can be imported."
        )
    if error is None and not ttft_s:
        error = "no answer"
    return VllmRequest(
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        ttft_s=ttft_s,
        itls_s=tuple(_number(path, f"itls[{row}][{k}]", gap, 0.0, MAX_TIME_S) for k, gap in enumerate(itls)),
        error=error,
        start_s=_start_s(start(), error) if "start_times" in lists else None,
        queue_s=number("queue_times") if "queue_times" in lists else 0.0,
    )


def _start_s(start_s: float, error: str | None) -> float | None:
    """A request that failed before it was sent still has the 0 with which the client began its record."""
    return None if error is not None and start_s == 0 else start_s


def _number(path: Path, name: str, value: object, minimum: float, maximum: float) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not minimum <= value < math.inf:  # type: ignore[operator] # just checked
        raise RunError(f"{path}: {name} is {_short(value)}, but it must be a number of seconds from 0.")
    if value > maximum:  # type: ignore[operator] # likewise
        raise RunError(f"{path}: {name} is {_short(value)}, but it must be at most {maximum} seconds.")
    return float(value)  # type: ignore[arg-type] # just checked


def _count(path: Path, name: str, value: object, minimum: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not minimum <= value <= _MAX_TOKENS:
        raise RunError(
            f"{path}: {name} is {_short(value)}, but it must be a whole number of tokens from {minimum} to "
            f"{_MAX_TOKENS}."
        )
    return value


def _error(path: Path, row: int, value: object) -> str | None:
    if value is not None and not isinstance(value, str):
        raise RunError(f"{path}: errors[{row}] is {_short(value)}, but it must be text.")
    lines = (value or "").strip().splitlines()
    # A traceback names the error in its last line.
    return lines[-1] if lines else None


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:60] + "..."
