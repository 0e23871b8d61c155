"""The turns of the sessions of a file, in the order of its lines."""

from traces.trace_lines import TraceLines


class SessionTurns:
    """Checks that each session begins with a `timestamp` and goes on with a `delay`.

    Args:
        lines: the file, for errors.
    """

    def __init__(self, lines: TraceLines) -> None:
        self._lines = lines
        self._first_lines: dict[str, int] = {}

    def check(self, line: int, session_id: str | None, timestamp: float | None, delay: float | None) -> None:
        """Take the next row.

        Raises:
            TraceError: it has neither, both, or the wrong one of the two for its place in the session.
        """
        complaint = self._complaint(line, session_id, timestamp, delay)
        if complaint is not None:
            raise self._lines.error(line, complaint)

    def _complaint(self, line: int, session_id: str | None, timestamp: float | None, delay: float | None) -> str | None:
        if session_id is None:
            return _outside(timestamp, delay)
        first_line = self._first_lines.setdefault(session_id, line)
        if first_line == line:
            return _on_first_turn(session_id, timestamp, delay)
        return _on_later_turn(f"a later turn of session {session_id}, begun in line {first_line}", timestamp, delay)


def _outside(timestamp: float | None, delay: float | None) -> str | None:
    if delay is not None:
        return f"delay is {delay:.10g}, but the row has no session_id; give the session that it is a later turn of"
    if timestamp is None:
        return "timestamp is missing; it must be a number of milliseconds, 0 or more"
    return None


def _on_first_turn(session_id: str, timestamp: float | None, delay: float | None) -> str | None:
    turn = f"this is the first turn of session {session_id}"
    if timestamp is None:
        return f"timestamp is missing, but {turn}; give timestamp, the number of milliseconds when it arrives"
    if delay is not None:
        return f"delay is {delay:.10g}, but {turn}; leave delay out, only later turns have one"
    return None


def _on_later_turn(turn: str, timestamp: float | None, delay: float | None) -> str | None:
    if timestamp is not None and delay is not None:
        return f"both timestamp and delay are given, but this is {turn}; leave timestamp out"
    if timestamp is not None:
        return f"timestamp is {timestamp:.10g}, but this is {turn}; give delay, the milliseconds after its end, instead"
    if delay is None:
        return f"delay is missing, but this is {turn}; give delay, the number of milliseconds after its end"
    return None
