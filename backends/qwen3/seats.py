"""Which sequence sits where."""

import heapq


class Seats:
    """Gives each admitted request a small number, its seat, and takes it back; the lowest free one goes first.

    Low numbers first keep the arrays that are indexed by seat short and warm.
    """

    def __init__(self) -> None:
        self._seat_of: dict[str, int] = {}
        self._free: list[int] = []

    def __getitem__(self, request_id: str) -> int:
        """The seat of an admitted request."""
        return self._seat_of[request_id]

    def __contains__(self, request_id: str) -> bool:
        """Whether the request has a seat."""
        return request_id in self._seat_of

    def take(self, request_id: str) -> int:
        """Seat an admitted request."""
        assert request_id not in self._seat_of, f"{request_id!r} was admitted twice without a release"
        seat = heapq.heappop(self._free) if self._free else len(self._seat_of)
        self._seat_of[request_id] = seat
        return seat

    def release(self, request_id: str) -> int:
        """Free the seat of a request; returns which it was."""
        seat = self._seat_of.pop(request_id)
        heapq.heappush(self._free, seat)
        return seat
