"""How a trace file is read."""

import math
from dataclasses import dataclass, field

from traces.column_map import ColumnMap
from traces.delay_rule import DelayRule
from traces.errors import OwnTimesError, TraceError
from traces.time_quantum import MAX_TIME_S
from traces.trace_lines import TraceLines
from traces.window import Window

UNITS_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
MAX_LINE_BYTES = 256 * 2**20
MAX_REQUESTS = 5_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadSettings:
    """What a reader is told; None leaves a thing to the file or its format.

    Attributes:
        trace_block_size: prompt tokens that one of hash_ids stands for.
        time_unit: "s", "ms", "us" or "ns", of times that are plain numbers.
        delay_rule: name of a `DelayRule`, for recorded sessions.
        api_time_scale: factor of rule "api-scaled".
        max_delay_s: longer delays inside sessions are cut to this, in seconds.
        request_rate: mean arrivals a second, as a Poisson process, where a file gives no times: all at 0 if None.
        seed: of what is drawn for a file that leaves something open.
        tokenizer: file of a tokenizer, or folder with `tokenizer.json`, for a file that gives texts.
        columns: "time=NAME,input=NAME,output=NAME", and session, id and priority, of a CSV file of one's own.
        window: the part that is wanted.
        max_requests: requests that a trace may have.
        max_line_bytes: longest line, or JSON value over several lines, that is read.
        skipped_lines: lines that are passed over as if they were blank, to look for more than one fault.

    Raises:
        TraceError: a setting is not what it must be.
    """

    trace_block_size: int | None = None
    time_unit: str | None = None
    delay_rule: str | None = None
    api_time_scale: float | None = None
    max_delay_s: float | None = None
    request_rate: float | None = None
    seed: int = 0
    tokenizer: str | None = None
    columns: str | None = None
    window: Window = field(default_factory=Window)
    max_requests: int = MAX_REQUESTS
    max_line_bytes: int = MAX_LINE_BYTES
    skipped_lines: frozenset[int] = frozenset()

    def __post_init__(self) -> None:
        if self.trace_block_size is not None and self.trace_block_size < 1:
            raise TraceError(f"the trace block size is {self.trace_block_size}, but it must be at least 1 token")
        if self.time_unit is not None and self.time_unit not in UNITS_PER_SECOND:
            raise TraceError(
                f"the time unit is {self.time_unit!r}, but it must be one of {', '.join(UNITS_PER_SECOND)}"
            )
        if self.max_delay_s is not None and not 0 <= self.max_delay_s <= MAX_TIME_S:
            raise TraceError(f"the longest delay is {self.max_delay_s} s, but it must be from 0 to {MAX_TIME_S} s")
        if self.request_rate is not None and not (math.isfinite(self.request_rate) and self.request_rate > 0):
            raise TraceError(f"the request rate is {self.request_rate} a second, but it must be a number above 0")
        if self.seed < 0:
            raise TraceError(f"the seed is {self.seed}, but it must be a whole number from 0")
        if self.api_time_scale is not None and self.delay_rule != "api-scaled":
            raise TraceError(
                f"an API time scale ({self.api_time_scale}) belongs to delay rule api-scaled; give that too"
            )
        if self.columns is not None:
            ColumnMap.parse(self.columns)
        _ = self.rule  # checks its name

    @property
    def rule(self) -> DelayRule:
        """The rule for recorded sessions; "think-only" where none is given."""
        scale = 1.0 if self.api_time_scale is None else self.api_time_scale
        return DelayRule(self.delay_rule or "think-only", scale)

    def units_per_second(self, usual: str) -> int:
        """Return how many units of the file's plain numbers make a second; `usual` is the format's own unit."""
        return UNITS_PER_SECOND[self.time_unit or usual]

    def unit_name(self, usual: str) -> str:
        """Return the unit in words, with who said so where that is not the format."""
        name = {"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}[
            self.time_unit or usual
        ]
        return name if self.time_unit is None else f"{name} (as given)"

    def check_arrivals(self, is_timed: bool, field: str, lines: TraceLines) -> None:
        """Check that what is set about arrivals fits a format whose files have times or not.

        Raises:
            TraceError: there is a request rate beside times, or a time unit without them.
        """
        if is_timed and self.request_rate is not None:
            raise OwnTimesError(
                f"a request rate is given ({self.request_rate:g} a second), but {lines.path} has times of its own, "
                f"{field}; scale their rate instead (--rate-scale)"
            )
        if not is_timed and self.time_unit is not None:
            raise TraceError(f"a time unit is given ({self.time_unit}), but {lines.path} has no {field}; leave it out")
