"""The rows of a trace file that is made."""

from collections.abc import Collection

from traces import TraceRequest
from traces.errors import TraceError
from traces.field_drop import FieldDrop
from traces.mooncake_rows import MooncakeRows
from traces.row_file import RowFile
from traces.trace_digest import TraceDigest

WRITTEN_FORMATS = ("native", "mooncake")


class TraceRows:
    """Passes requests through to a file, holding none.

    Args:
        file: that comes into being; what it holds is forgotten.
        block_size: prompt tokens of one of hash_ids.
        name: of the trace that is read, for errors.
        to: format that is written, one of `WRITTEN_FORMATS`.
        dropped_fields: fields that are left out.

    Attributes:
        digest: of what was written.

    Raises:
        TraceError: there is no such format or field.
    """

    def __init__(
        self, file: RowFile, block_size: int, name: str, to: str = "native", dropped_fields: Collection[str] = ()
    ) -> None:
        if to not in WRITTEN_FORMATS:
            raise TraceError(f"a trace cannot be written as {to!r}; it must be one of {', '.join(WRITTEN_FORMATS)}")
        self.digest = TraceDigest(block_size)
        self._file = file
        self._file.restart()
        self._mooncake = MooncakeRows(name, block_size) if to == "mooncake" else None
        self._drop = FieldDrop(dropped_fields, self._write)
        self._num_later = 0
        self.add = self._drop.add

    def _write(self, request: TraceRequest) -> None:
        self._num_later += request.delay_s is not None
        if self._mooncake is None:
            self._file.write(self.digest.add(request))
        else:
            fitted = self._mooncake.fitted(request)
            self.digest.add(fitted)
            self._file.write(self._mooncake.line(fitted))

    def finish(self) -> tuple[str, ...]:
        """Write what is still to be written; return a sentence about what was left out."""
        self._drop.finish()
        changed = ", ".join(f"{field} of {num:,} requests" for field, num in self._drop.num_changed.items() if num)
        return (f"Left out: {changed}.",) if changed else ()

    def commit(self) -> None:
        """Put the file into its place.

        Raises:
            TraceError: it cannot be written.
        """
        self._file.commit()

    @property
    def counts(self) -> dict[str, int]:
        """How many requests were written."""
        return {"requests": self.digest.num_requests, "later_turns": self._num_later}
