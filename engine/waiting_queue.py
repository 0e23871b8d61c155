"""Requests that wait for blocks."""

from bisect import insort
from collections import deque
from collections.abc import Iterator
from operator import attrgetter
from typing import Protocol

from engine.sequence import Sequence


class WaitingQueue(Protocol):
    """Sequences that are not running, in the order in which they should be."""

    def add(self, seq: Sequence) -> None:
        """Take a new arrival."""
        ...

    def put_back(self, seq: Sequence) -> None:
        """Take a preempted sequence."""
        ...

    def remove(self, seq: Sequence) -> None:
        """Let one go, from wherever it stands."""
        ...

    def first(self) -> Sequence:
        """The head; the queue is not empty."""
        ...

    def __iter__(self) -> Iterator[Sequence]:
        """From the head on."""
        ...

    def __len__(self) -> int:
        """Number of waiting sequences."""
        ...


class ArrivalQueue:
    """First come, first served; a preempted sequence goes back to the head."""

    def __init__(self) -> None:
        """Start empty."""
        self._seqs: deque[Sequence] = deque()

    def add(self, seq: Sequence) -> None:
        """Put an arrival at the tail."""
        self._seqs.append(seq)

    def put_back(self, seq: Sequence) -> None:
        """Put a preempted sequence at the head."""
        self._seqs.appendleft(seq)

    def remove(self, seq: Sequence) -> None:
        """O(1) at the head, O(n) elsewhere."""
        self._seqs.remove(seq)

    def first(self) -> Sequence:
        """The head."""
        return self._seqs[0]

    def __iter__(self) -> Iterator[Sequence]:
        """From the head on."""
        return iter(self._seqs)

    def __len__(self) -> int:
        """Number of waiting sequences."""
        return len(self._seqs)


class PriorityQueue:
    """The most urgent first: smallest priority, then earliest arrival, preempted or not."""

    def __init__(self) -> None:
        """Start empty."""
        self._seqs: list[Sequence] = []

    def add(self, seq: Sequence) -> None:
        """Put an arrival where its urgency says."""
        insort(self._seqs, seq, key=attrgetter("urgency"))

    def put_back(self, seq: Sequence) -> None:
        """Put a preempted sequence where its urgency says."""
        self.add(seq)

    def remove(self, seq: Sequence) -> None:
        """O(n)."""
        self._seqs.remove(seq)

    def first(self) -> Sequence:
        """The most urgent."""
        return self._seqs[0]

    def __iter__(self) -> Iterator[Sequence]:
        """From the most urgent on."""
        return iter(self._seqs)

    def __len__(self) -> int:
        """Number of waiting sequences."""
        return len(self._seqs)
