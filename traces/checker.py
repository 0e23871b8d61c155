"""Looks for everything that is wrong with a trace file."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from traces.errors import TraceError
from traces.feed import feed, recognise
from traces.read_settings import ReadSettings
from traces.reader import read_trace
from traces.side_file import read_side_file, side_file_path
from traces.statistics.arrival_counts import ArrivalCounts
from traces.statistics.trace_warnings import arrival_warnings
from traces.trace import Trace
from traces.trace_digest import TraceDigest
from traces.trace_facts import TraceFacts
from traces.trace_format import FORMATS
from traces.trace_request import TraceRequest

LINE_BY_LINE = (
    *("azure", "bailian", "burstgpt", "columns", "llmservingsim", "native", "tracelab", "tracelab-replay", "vidur"),
)
IN_ORDER_OF_TIME = ("azure", "burstgpt", "columns", "llmservingsim", "native", "vidur")


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What was found.

    Attributes:
        problems: a sentence each, with file and line where there is one.
        num_requests: in what could be read; None if nothing could.
        warnings: a sentence for each thing that is odd about the arrivals of what could be read; no problems.
        is_complete: whether all was looked at that can be.
    """

    problems: tuple[str, ...]
    num_requests: int | None
    is_complete: bool
    warnings: tuple[str, ...] = ()


class TraceChecker:
    """Reads a file, and again without each line that is wrong, until nothing is or there are enough problems.

    A problem is what a reader refuses, and also what it would put right in silence or with a notice: rows of no
    length, rows out of order, requests that are too long, a side file about other content.

    Args:
        settings: how the file is read.
        max_problems: after how many to stop.
        max_model_len: longest prompt and output together, in tokens; None for any.
    """

    def __init__(self, settings: ReadSettings, max_problems: int, max_model_len: int | None = None) -> None:
        self._settings = settings
        self._max_problems = max_problems
        self._max_model_len = max_model_len

    def check(self, path: Path, format: str = "auto") -> CheckResult:
        """Check one file."""
        problems: list[str] = []
        skipped: set[int] = set()
        try:
            format = recognise(path, self._settings, format).name
        except TraceError as error:
            return CheckResult((str(error),), None, is_complete=not path.is_file())  # else there is no more to see
        while len(problems) < self._max_problems:
            settings = replace(self._settings, skipped_lines=frozenset(skipped))
            try:
                facts, rows = feed(
                    path, settings, format, lambda block_size: self._row_problems(path, format, block_size)
                )
            except TraceError as error:
                if error.line is None or error.line not in skipped:
                    problems.append(str(error))
                if error.line is None or error.line in skipped or not _can_skip(format, error.line):
                    return CheckResult(tuple(problems), None, is_complete=False)
                skipped.add(error.line)
                continue
            late = _late(path, read_trace(path, settings, format=format)) if rows.has_late else ()
            found = (*problems, *rows.problems(facts), *late)
            shown = found[: self._max_problems]
            warnings = tuple(arrival_warnings(rows.arrivals.summary()))
            return CheckResult(shown, rows.num_requests, len(found) <= self._max_problems, warnings)
        return CheckResult(tuple(problems), None, is_complete=False)

    def _row_problems(self, path: Path, format: str, block_size: int) -> "RowProblems":
        return RowProblems(path, block_size, self._max_model_len, format in IN_ORDER_OF_TIME)


class RowProblems:
    """Looks at requests that could be read.

    Args:
        path: the file.
        block_size: prompt tokens of one of hash_ids.
        max_model_len: longest prompt and output together; None for any.
        is_in_order: whether lines ought to be in the order of time.

    Attributes:
        num_requests: requests so far.
        has_late: whether lines were not in that order.
        arrivals: counts of arrivals.

    Raises:
        TraceError: there is a side file that cannot be read.
    """

    def __init__(self, path: Path, block_size: int, max_model_len: int | None, is_in_order: bool) -> None:
        self.num_requests = 0
        self.has_late = False
        self.arrivals = ArrivalCounts()
        self._path = path
        self._max_model_len = max_model_len
        self._is_in_order = is_in_order
        self._side = read_side_file(path)
        self._digest = TraceDigest(self._side.block_size or block_size)
        self._long: list[str] = []
        self._latest_line = 0

    def add(self, request: TraceRequest) -> None:
        """Take the next request."""
        self.num_requests += 1
        if self._side.digest is not None:
            self._digest.add(request)
        num_tokens = request.input_length + request.output_length
        if self._max_model_len is not None and num_tokens > self._max_model_len:
            where = f"{self._path} line {request.line}"
            self._long.append(f"{where}: prompt and output have {num_tokens} tokens, more than {self._max_model_len}")
        if request.arrival_s is not None:
            self.arrivals.add(request.arrival_s)
        if self._is_in_order and request.arrival_s is not None:
            self.has_late = self.has_late or request.line < self._latest_line
            self._latest_line = request.line

    def problems(self, facts: TraceFacts) -> Iterator[str]:
        """Yield what was found."""
        for reason, num in facts.dropped.items():
            yield f"{self._path}: {num} rows are not replayed because {reason}"
        yield from self._long
        if self._side.digest is not None and self._side.digest != self._digest.hexdigest():
            name = side_file_path(self._path).name
            yield f"{self._path}: {name} states digest {self._side.digest}, but the file has {self._digest.hexdigest()}"


def _late(path: Path, trace: Trace) -> Iterator[str]:
    latest_s = 0.0
    for request in sorted(trace.requests, key=lambda request: request.line):
        if request.arrival_s is not None:
            if request.arrival_s < latest_s:
                yield f"{path} line {request.line}: this row arrives before one of an earlier line"
            latest_s = max(latest_s, request.arrival_s)


def _can_skip(format: str, line: int) -> bool:
    """Return whether the other lines can be read without this one."""
    is_header = line == 1 and any(each.is_csv and each.name == format for each in FORMATS)
    return format in LINE_BY_LINE and not is_header
