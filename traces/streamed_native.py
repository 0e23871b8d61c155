"""The native format row by row, where a file is in the order of a trace."""

from collections.abc import Iterator

from traces.arrival_times import ArrivalTimes
from traces.ascending_ids import AscendingIds
from traces.block_size_choice import BlockSizeChoice
from traces.errors import UnstreamableError
from traces.hash_id_count import HashIdCount, counted_by
from traces.native import NativeRow, NativeRows, native_request
from traces.read_settings import ReadSettings
from traces.time_quantum import MAX_TIME_S
from traces.trace_lines import TraceLines
from traces.trace_request import TraceRequest


class StreamedNative:
    """The requests of a native file, checked as far as that goes without holding them.

    Args:
        lines: the file.
        settings: give the time unit.
        block_size: prompt tokens of one of hash_ids.
    """

    def __init__(self, lines: TraceLines, settings: ReadSettings, block_size: BlockSizeChoice) -> None:
        self._rows = NativeRows(lines, settings)
        self._block_size = block_size
        self._times = ArrivalTimes(0, settings.units_per_second("ms"))
        self._ids = AscendingIds()
        self._rule: HashIdCount | None = None
        self._has_ids = False
        self._num_without = 0
        self._latest_s = 0.0
        self._session_id: str | None = None
        self.dropped: dict[str, int] = {}

    def __iter__(self) -> Iterator[TraceRequest]:
        """Yield each.

        Raises:
            TraceError: a line is not what it must be.
            UnstreamableError: the file must be held whole to be read.
        """
        units = self._times.units_per_second
        for index, (line, row) in enumerate(self._rows):
            if row.timestamp is not None and row.timestamp > MAX_TIME_S * units:
                raise UnstreamableError  # calendar times, which count from the earliest
            request = native_request(index, line, row, self._times, units)
            self._check_order(row, request)
            self._check_ids(request)
            yield request

    def _check_order(self, row: NativeRow, request: TraceRequest) -> None:
        if request.arrival_s is None:
            if row.session_id != self._session_id:
                raise UnstreamableError
            return
        if request.arrival_s < self._latest_s:
            raise UnstreamableError
        self._latest_s, self._session_id = request.arrival_s, row.session_id

    def _check_ids(self, request: TraceRequest) -> None:
        counted = counted_by(request, self._block_size.size)
        if not self._ids.rises_to(request.request_id) or counted is None:
            raise UnstreamableError
        self._has_ids = self._has_ids or bool(request.hash_ids)
        self._num_without += request.hash_ids is None
        if counted != "any":
            if self._rule not in (None, counted):
                raise UnstreamableError
            self._rule = counted

    @property
    def hash_id_count(self) -> HashIdCount | None:
        """How ids are counted; known at the end."""
        return self._rule or ("ceil" if self._has_ids else None)

    @property
    def notices(self) -> tuple[str, ...]:
        """What was decided; known at the end."""
        return *self._rows.notices(self._times), *self._block_size.notice(self.hash_id_count, self._num_without)
