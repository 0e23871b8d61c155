"""The workload files of LLMServingSim: JSON lines of requests or sessions, with lengths and nanoseconds."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Annotated, NamedTuple

import msgspec
from msgspec import Meta, Struct

from traces.arrival_times import ArrivalTimes, Stamp
from traces.canonical_row import default_request_id
from traces.parsed_rows import ParsedRows, dropped_notice
from traces.read_settings import ReadSettings
from traces.row_decoder import RowDecoder
from traces.time_quantum import MAX_TIME_S, NS_PER_SECOND, to_seconds
from traces.trace_lines import TraceLines
from traces.trace_request import TraceRequest

MAX_NS = MAX_TIME_S * NS_PER_SECOND
NumTokens = Annotated[int, Meta(ge=0, le=2**31 - 1)]


class LlmServingSimCall(Struct):
    """One of `sub_requests`."""

    input_toks: NumTokens
    output_toks: NumTokens
    tool_duration_ns: Annotated[int, Meta(ge=0, le=MAX_NS)] = 0
    input_tok_ids: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    output_tok_ids: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


class LlmServingSimRow(Struct):
    """One line as it stands in the file: a request, or a session with `sub_requests`."""

    arrival_time_ns: Annotated[int, Meta(ge=0)]
    input_toks: NumTokens | None = None
    output_toks: NumTokens | None = None
    session_id: Annotated[str, Meta(min_length=1)] | None = None
    sub_requests: list[LlmServingSimCall] | None = None
    input_tok_ids: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    output_tok_ids: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


NUM_TOKENS = f"a whole number of tokens from 0 to {2**31 - 1}"
MEANINGS: Mapping[str, str] = {
    "input_toks": NUM_TOKENS,
    "output_toks": NUM_TOKENS,
    "arrival_time_ns": "a whole number of nanoseconds, 0 or more",
    "session_id": "a text that is not empty",
    "sub_requests": "a list of requests that follow each other",
    "tool_duration_ns": f"a whole number of nanoseconds from 0 to {MAX_NS}",
    "input_tok_ids": "a list of token ids, which is not used",
    "output_tok_ids": "a list of token ids, which is not used",
}


class Turn(NamedTuple):
    """A request of the file.

    Attributes:
        position: place among all requests, from 0.
        line: where it stands.
        arrival_ns: of the row, on the file's clock.
        call: the rest.
        session_id: what it is a turn of, or None.
        wait_ns: from the end of the turn before; None for a first turn.
    """

    position: int
    line: int
    arrival_ns: int
    call: LlmServingSimCall
    session_id: str | None = None
    wait_ns: int | None = None


class LlmServingSimTurns:
    """Takes rows apart, and leaves out requests of zero length; what is waited behind these is waited before the next.

    Args:
        lines: the file, for errors.
    """

    def __init__(self, lines: TraceLines) -> None:
        self._lines = lines
        self._first_lines: dict[str, int] = {}
        self._num_read = 0
        self.dropped: Counter[str] = Counter()
        self.num_with_ids = 0

    def of(self, line: int, row: LlmServingSimRow) -> Iterator[Turn]:
        """Yield the turns of a row.

        Raises:
            TraceError: it is neither a request nor a session, or its session has stood in the file before.
        """
        wait_ns = None
        for call in self._calls(line, row):
            position = self._num_read
            self._num_read += 1
            self.num_with_ids += call.input_tok_ids is not msgspec.UNSET or call.output_tok_ids is not msgspec.UNSET
            if call.input_toks == 0 or call.output_toks == 0:
                self.dropped["input_toks is 0" if call.input_toks == 0 else "output_toks is 0"] += 1
                wait_ns = None if wait_ns is None else min(MAX_NS, wait_ns + call.tool_duration_ns)
                continue
            yield Turn(position, line, row.arrival_time_ns, call, row.session_id, wait_ns)
            wait_ns = call.tool_duration_ns

    def _calls(self, line: int, row: LlmServingSimRow) -> list[LlmServingSimCall]:
        if row.sub_requests is None:
            for field, value in (("input_toks", row.input_toks), ("output_toks", row.output_toks)):
                if value is None:
                    raise self._lines.error(line, f"{field} is missing; it must be {MEANINGS[field]}")
            ids = row.input_tok_ids, row.output_tok_ids
            return [LlmServingSimCall(row.input_toks or 0, row.output_toks or 0, 0, *ids)]
        if row.session_id is None:
            raise self._lines.error(line, f"session_id is missing; it must be {MEANINGS['session_id']}")
        first_line = self._first_lines.setdefault(row.session_id, line)
        if first_line != line:
            raise self._lines.error(line, f"session_id is {row.session_id!r}, which line {first_line} has too")
        return row.sub_requests


def read_llmservingsim(lines: TraceLines, settings: ReadSettings) -> ParsedRows:
    """Read requests (`input_toks`, `output_toks`, `arrival_time_ns`) and sessions (`session_id`, `sub_requests`).

    The first of `sub_requests` arrives with its row, each other one `tool_duration_ns` of the one before after that has
    ended. Token ids are passed over with a notice. Requests with a length of zero are dropped and counted.

    Raises:
        TraceError: a line is not what it must be.
    """
    decoder = RowDecoder(LlmServingSimRow, MEANINGS, lines)
    found = LlmServingSimTurns(lines)
    turns = [turn for line, content in lines for turn in found.of(line, decoder.decode(line, content))]
    units = settings.units_per_second("ns")
    times = ArrivalTimes.of([Stamp(turn.line, turn.arrival_ns) for turn in turns], "arrival_time_ns", units, lines)
    requests = tuple(_request(turn, times) for turn in turns)
    origin = f"Read as an LLMServingSim length file, arrival_time_ns in {settings.unit_name('ns')}."
    num = found.num_with_ids
    ids = (f"Token ids were ignored in {num} rows; prompts share no prefix.",) if num else ()
    dropped = dropped_notice(len(turns), found.dropped)
    notices = (origin, *times.notices, *_session_notice(turns), *ids, *decoder.notices, *dropped)
    return ParsedRows(requests, notices, dropped=dict(found.dropped))


def _session_notice(turns: list[Turn]) -> tuple[str, ...]:
    num = sum(turn.wait_ns is not None for turn in turns)
    text = f"{num:,} later turns of sessions come after the turn before has ended, delays stated in the file."
    return (text,) if num else ()


def _request(turn: Turn, times: ArrivalTimes) -> TraceRequest:
    is_later = turn.wait_ns is not None
    return TraceRequest(
        request_id=default_request_id(turn.position),
        line=turn.line,  # turns of one line stay in the order in which they are returned
        input_length=turn.call.input_toks,
        output_length=turn.call.output_toks,
        arrival_s=None if is_later else times.arrival_s(turn.arrival_ns),
        delay_s=None if turn.wait_ns is None else to_seconds(turn.wait_ns, NS_PER_SECOND),
        session_id=turn.session_id,
    )
