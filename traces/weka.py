"""Agentic coding sessions as WEKA publishes them: one JSON object a session, ids of 64-token blocks, subagents."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal, NamedTuple

from msgspec import Meta, Struct

from traces.drawn_arrivals import DrawnArrivals
from traces.json_values import JsonValues
from traces.parsed_rows import ParsedRows
from traces.read_settings import ReadSettings
from traces.recorded_row import RecordedRow
from traces.recording import DRAW_ARRIVALS, Recording
from traces.row_decoder import RowDecoder
from traces.time_quantum import NS_PER_SECOND
from traces.trace_lines import TraceLines

NumTokens = Annotated[int, Meta(ge=0, le=2**31 - 1)]
Seconds = Annotated[float, Meta(ge=0, le=2**32)]


class WekaCall(Struct, rename={"num_input": "in", "num_output": "out"}):
    """One entry of `requests`: a call, or a subagent with calls of its own."""

    t: Seconds
    type: str
    num_input: NumTokens | None = None
    num_output: NumTokens | None = None
    hash_ids: list[Annotated[int, Meta(ge=0)]] | None = None
    api_time: Seconds | None = None
    think_time: Seconds | None = None
    duration_ms: Annotated[float, Meta(ge=0, le=2**42)] | None = None
    agent_id: str | None = None
    requests: "list[WekaCall] | None" = None


class WekaSession(Struct):
    """One session as it stands in the file."""

    id: str
    block_size: Annotated[int, Meta(ge=1, le=2**31 - 1)]
    requests: list[WekaCall]
    hash_id_scope: Literal["local", "global"] = "local"


UNUSED = ("models", "tool_tokens", "system_tokens", "totals")
NUM_TOKENS = f"a whole number of tokens from 0 to {2**31 - 1}"
SECONDS = "a number of seconds, 0 or more"
MEANINGS: Mapping[str, str] = {
    "id": "a text",
    "block_size": "a whole number of tokens from 1",
    "requests": "a list of calls and subagents",
    "hash_id_scope": "local or global",
    "t": SECONDS,
    "type": "n, s or subagent",
    "in": NUM_TOKENS,
    "out": NUM_TOKENS,
    "hash_ids": "a list of whole numbers, one for each block of the prompt",
    "api_time": SECONDS,
    "think_time": SECONDS,
    "duration_ms": "a number of milliseconds, 0 or more",
    "agent_id": "a text",
}


class Chain(NamedTuple):
    """Calls one after the other: the session itself, or a subagent in it.

    Attributes:
        name: session id; a subagent's has that of its parent in front.
        start_ns: when the chain begins.
        place: of its `requests` in the JSON object, for errors.
        calls: the calls, with times from `start_ns` on.
    """

    name: str
    start_ns: int
    place: str
    calls: list[WekaCall]


def read_weka(lines: TraceLines, settings: ReadSettings) -> ParsedRows:
    """Read sessions of agentic coding; sessions begin at 0, or as a Poisson process at the request rate.

    A subagent is a session of its own that begins when it did in the recording: its `t` is its end, `duration_ms`
    before that it began, and its calls count from there. The think time of the turn behind it covers it. Ids of
    different sessions are kept apart unless `hash_id_scope` is "global". Calls of zero length are dropped and counted.

    Raises:
        TraceError: a session is not what it must be, or block sizes differ.
    """
    settings.check_arrivals(False, "times of sessions", lines)
    decoder = RowDecoder(WekaSession, MEANINGS, lines, UNUSED)
    recording = Recording(lines, settings, origin_ns=0, other_remedy=DRAW_ARRIVALS)
    calls = WekaCalls(lines, recording)
    arrivals = DrawnArrivals(settings)
    for line, content in JsonValues(lines, settings.max_line_bytes):
        calls.add(line, decoder.decode(line, content), arrivals.next_ns())
    return recording.parsed(
        "Read as agentic sessions of WEKA, t, api_time and think_time in seconds.",
        f"{calls.num_sessions} sessions with {calls.num_subagents} subagents, each a session of its own that begins "
        "when it did in the recording.",
        arrivals.notice("sessions"),
        *decoder.notices,
        block_size=calls.block_size,
    )


class WekaCalls:
    """Takes sessions apart into rows.

    Args:
        lines: the file, for errors.
        recording: takes the rows.
    """

    def __init__(self, lines: TraceLines, recording: Recording) -> None:
        self._lines = lines
        self._recording = recording
        self._first_lines: dict[str, int] = {}
        self._global_ids: dict[int, int] = {}
        self._num_ids = 0
        self._num_calls = 0
        self.num_sessions = 0
        self.num_subagents = 0
        self.block_size: int | None = None

    def add(self, line: int, session: WekaSession, start_ns: int) -> None:
        """Add the calls of a session that begins at `start_ns`.

        Raises:
            TraceError: they contradict each other, or another session.
        """
        self._check(line, session)
        self.num_sessions += 1
        ids = self._global_ids if session.hash_id_scope == "global" else {}
        for chain in self._chains(line, session, start_ns):
            is_think_known = True
            for position, call in enumerate(chain.calls):
                if call.type != "subagent":
                    place = f"{chain.place}[{position}]"
                    # The pause behind a call that is dropped is not the one behind the call that is kept before it.
                    think_ns = _ns_or_none(call.think_time) if is_think_known else None
                    is_think_known = self._add_call(line, place, chain, call, think_ns, session, ids)

    def _check(self, line: int, session: WekaSession) -> None:
        if session.id in self._first_lines:
            first_line = self._first_lines[session.id]
            raise self._lines.error(line, f"id is {session.id!r}, which the session in line {first_line} has too")
        self._first_lines[session.id] = line
        if self.block_size is None:
            self.block_size = session.block_size
        if session.block_size != self.block_size:
            raise self._lines.error(
                line, f"block_size is {session.block_size}, but that of the sessions before is {self.block_size}"
            )

    def _chains(self, line: int, session: WekaSession, start_ns: int) -> Iterator[Chain]:
        waiting = [Chain(session.id, start_ns, "requests", session.requests)]
        while waiting:
            chain = waiting.pop(0)
            yield chain
            for position, call in enumerate(chain.calls):
                if call.type == "subagent":
                    self.num_subagents += 1
                    waiting.append(self._subagent(line, chain, position, call))

    def _subagent(self, line: int, parent: Chain, position: int, call: WekaCall) -> Chain:
        place = f"{parent.place}[{position}]"
        if call.requests is None or call.duration_ms is None:
            missing = "requests" if call.requests is None else "duration_ms"
            raise self._lines.error(line, f"{place}.{missing} is missing; it must be {MEANINGS[missing]}")
        # duration_ms before t, but not before the session.
        offset_ns = max(0, _ns(call.t) - round(call.duration_ms * 1e6))
        name = f"{parent.name}/{call.agent_id or 'agent'}#{position}"
        return Chain(name, parent.start_ns + offset_ns, f"{place}.requests", call.requests)

    def _add_call(
        self,
        line: int,
        place: str,
        chain: Chain,
        call: WekaCall,
        think_ns: int | None,
        session: WekaSession,
        ids: dict[int, int],
    ) -> bool:
        """Return whether the call can be replayed, inside the window or not."""
        for field, value in (("in", call.num_input), ("out", call.num_output), ("hash_ids", call.hash_ids)):
            if value is None:
                raise self._lines.error(line, f"{place}.{field} is missing; it must be {MEANINGS[field]}")
        num_input, num_output, hash_ids = call.num_input or 0, call.num_output or 0, call.hash_ids or []
        num_full, rest = divmod(num_input, session.block_size)
        if not num_full <= len(hash_ids) <= num_full + (rest > 0):
            expected = f"{num_input} tokens in blocks of {session.block_size} make {num_full}"
            raise self._lines.error(line, f"{place}.hash_ids has {len(hash_ids)} ids, but {expected}")
        index = self._num_calls
        self._num_calls += 1
        if self._recording.drops(("in", num_input), ("out", num_output)):
            return False
        start_ns = chain.start_ns + _ns(call.t)
        if self._recording.wants(index + 1, start_ns, session.id):
            times = _ns_or_none(call.api_time), think_ns
            kept_ids = self._ids(hash_ids, ids)
            self._recording.keep(
                RecordedRow(index, index + 1, start_ns, num_input, num_output, chain.name, *times, kept_ids)
            )
        return True

    def _ids(self, hash_ids: list[int], known: dict[int, int]) -> tuple[int, ...]:
        """Return ids that mean the same in the whole file, in the order in which they are first seen."""
        for hash_id in hash_ids:
            if hash_id not in known:
                known[hash_id] = self._num_ids
                self._num_ids += 1
        return tuple([known[hash_id] for hash_id in hash_ids])


def _ns(time_s: float) -> int:
    return round(time_s * NS_PER_SECOND)


def _ns_or_none(time_s: float | None) -> int | None:
    return None if time_s is None else _ns(time_s)
