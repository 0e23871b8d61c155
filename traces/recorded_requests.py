"""Recorded calls as requests: single ones at their times, turns of sessions behind each other."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from traces.canonical_row import default_request_id
from traces.read_settings import ReadSettings
from traces.recorded_row import RecordedRow
from traces.time_quantum import MAX_TIME_S, NS_PER_SECOND, to_seconds
from traces.trace_lines import TraceLines
from traces.trace_request import TraceRequest


class RecordedRequests:
    """Makes requests of rows and counts what was odd about them.

    Args:
        settings: what later turns wait for, and how long at most.
        zero_ns: time of the recording that is 0 in the trace.
        lines: the file, for errors.
        other_remedy: what helps against times too far apart, beside a window, as it fits behind one.
    """

    def __init__(self, settings: ReadSettings, zero_ns: int, lines: TraceLines, other_remedy: str = "") -> None:
        self._other_remedy = other_remedy
        self._rule = settings.rule
        self._is_capped = settings.max_delay_s is not None
        self._zero_ns = zero_ns
        self._lines = lines
        self._odd: Counter[str] = Counter()
        self._num_later = 0

    def of(self, rows: Iterable[RecordedRow]) -> tuple[TraceRequest, ...]:
        """Return the requests; turns of a session are in the order of `rows` if they start at the same time.

        Raises:
            TraceError: a time lies further from the zero than a trace may span.
        """
        if self._rule.is_open:
            return tuple(self._request(row, is_turn=False) for row in rows)
        sessions: dict[str, list[RecordedRow]] = {}
        requests = []
        for row in rows:
            if row.session_id is None:
                requests.append(self._request(row))
            else:
                sessions.setdefault(row.session_id, []).append(row)
        for turns in sessions.values():
            requests.extend(self._turns(turns))
        return tuple(requests)

    def notices(self, is_stated: bool) -> tuple[str, ...]:
        """Sentences about sessions, if there were any.

        Args:
            is_stated: whether the file itself states the delays.
        """
        if not self._num_later:
            return ()
        how = "stated in the file" if is_stated else f"by rule {self._rule.name}{self._scale}"
        odd = (f"Of the later turns, {num:,}: {reason}." for reason, num in self._odd.items())
        return (
            f"{self._num_later:,} later turns of sessions come after the turn before has ended, delays {how}.",
            *odd,
        )

    @property
    def _scale(self) -> str:
        return f" (scale {self._rule.api_time_scale:g})" if self._rule.name == "api-scaled" else ""

    def _turns(self, turns: Sequence[RecordedRow]) -> Iterator[TraceRequest]:
        # In the order of lines, which is what a trace keeps turns in: given anew where that is not the order of turns.
        lines = sorted(turn.line for turn in turns)
        before: RecordedRow | None = None
        for line, turn in zip(lines, turns, strict=True):
            delay_ns = None if before is None else self._rule.delay_ns(before, turn, self._odd)
            yield self._request(turn._replace(line=line), delay_ns)
            before = turn

    def _request(self, row: RecordedRow, delay_ns: int | None = None, is_turn: bool = True) -> TraceRequest:
        if delay_ns is not None:
            self._num_later += 1
            if self._is_capped:  # to much less than this, once all delays are known
                delay_ns = min(delay_ns, MAX_TIME_S * NS_PER_SECOND)
        return TraceRequest(
            request_id=row.request_id or default_request_id(row.position),
            line=row.line,
            input_length=row.input_length,
            output_length=row.output_length,
            arrival_s=self._arrival_s(row) if delay_ns is None else None,
            delay_s=None if delay_ns is None else self._delay_s(row, delay_ns),
            session_id=row.session_id if is_turn else None,
            hash_ids=row.hash_ids,
            prompt=row.prompt,
            priority=row.priority,
        )

    def _arrival_s(self, row: RecordedRow) -> float:
        remedies = f"choose a part (--start, --end 1000h){self._other_remedy}"
        return self._seconds(row, row.start_ns - self._zero_ns, "the beginning", remedies)

    def _delay_s(self, row: RecordedRow, delay_ns: int) -> float:
        return self._seconds(row, delay_ns, "the turn before", "cut such gaps with --max-delay")

    def _seconds(self, row: RecordedRow, time_ns: int, other_end: str, remedies: str) -> float:
        if time_ns > MAX_TIME_S * NS_PER_SECOND:
            raise self._lines.error(
                row.line,
                f"{time_ns / NS_PER_SECOND:.10g} s lie between this row and {other_end}, but a trace spans at most "
                f"{MAX_TIME_S} s (48.5 days); {remedies}",
            )
        return to_seconds(time_ns, NS_PER_SECOND)
