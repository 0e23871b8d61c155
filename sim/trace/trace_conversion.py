"""Writes the requests of a trace into a file of another format."""

from collections.abc import Callable, Collection

from traces import Trace, TraceRequest
from traces.errors import TraceError
from traces.field_drop import FieldDrop
from traces.mooncake_rows import MooncakeRows
from traces.row_file import RowFile
from traces.trace_digest import TraceDigest

WRITTEN_FORMATS = ("native", "mooncake")


class TraceConversion:
    """Passes requests through to a file, holding none.

    Args:
        rows: the file that comes into being.
        name: of the trace that is read, for errors.
        to: format that is written, one of `WRITTEN_FORMATS`.
        dropped_fields: fields that are left out.

    Raises:
        TraceError: there is no such format.

    Attributes:
        digest: of what was written.
        num_later_turns: of the requests written, those that wait for a turn before.
    """

    def __init__(self, rows: RowFile, name: str, to: str, dropped_fields: Collection[str]) -> None:
        if to not in WRITTEN_FORMATS:
            raise TraceError(f"a trace cannot be written as {to!r}; it must be one of {', '.join(WRITTEN_FORMATS)}")
        self._rows = rows
        self._name = name
        self._to = to
        self._fields = dropped_fields
        self.num_later_turns = 0

    def begin(self, block_size: int) -> Callable[[TraceRequest], None]:
        """Begin from the first request; what was written before is forgotten."""
        self._rows.restart()
        self.num_later_turns = 0
        self.digest = TraceDigest(block_size)
        self._mooncake = MooncakeRows(self._name, block_size) if self._to == "mooncake" else None
        self._drop = FieldDrop(self._fields, self._write)
        return self._drop.add

    @property
    def counts(self) -> dict[str, int]:
        """How many requests were written."""
        return {"requests": self.digest.num_requests, "later_turns": self.num_later_turns}

    def _write(self, request: TraceRequest) -> None:
        self.num_later_turns += request.delay_s is not None
        if self._mooncake is None:
            self._rows.write(self.digest.add(request))
        else:
            fitted = self._mooncake.fitted(request)
            self.digest.add(fitted)
            self._rows.write(self._mooncake.line(fitted))

    def finish(self) -> tuple[str, ...]:
        """Put the file into its place; return a sentence about what was left out."""
        self._drop.finish()
        self._rows.commit()
        changed = ", ".join(f"{field} of {num:,} requests" for field, num in self._drop.num_changed.items() if num)
        return (f"Left out: {changed}.",) if changed else ()


def pass_through(trace: Trace, conversion: TraceConversion) -> None:
    """Hand the requests of a trace that is held to a conversion, which is then to be finished."""
    take = conversion.begin(trace.block_size)
    for request in trace.requests:
        take(request)
