"""One number for everything that a run decided."""

from collections.abc import Sequence

from msgspec import msgpack
from xxhash import xxh3_128

from analysis.rows import EventRow
from engine import Batch, Stretch


class DecisionDigest:
    """xxh3-128 over the decisions of a run; no clock value goes in.

    Fed, in order: every event; whenever the rows of the batch or their token counts change, the new ones; and between
    two such steps the number of steps that went on exactly like the one before. Two runs decide alike exactly when
    their digests are equal.
    """

    def __init__(self) -> None:
        """Start with nothing decided."""
        self._hash = xxh3_128()
        self._encode = msgpack.Encoder().encode
        self._num_quiet = 0
        self._rows: tuple[tuple[str, ...], tuple[int, ...]] = ((), ())

    def add(self, batch: Batch, events: Sequence[EventRow]) -> None:
        """Take one step; its number counts only through the order."""
        self._add((batch.request_ids, batch.num_tokens), events)

    def add_many(self, stretch: Stretch, num_steps: int, events: Sequence[EventRow]) -> None:
        """Take the first steps of a stretch, with the events of all of them."""
        rows, next_step = (stretch.request_ids, stretch.num_tokens), stretch.first_step
        by_step: dict[int, list[EventRow]] = {next_step: []}
        for event in events:
            by_step.setdefault(event.step, []).append(event)
        for step, of_step in by_step.items():
            self._num_quiet += step - next_step
            self._add(rows, of_step)
            next_step = step + 1
        self._num_quiet += stretch.first_step + num_steps - next_step

    def _add(self, rows: tuple[tuple[str, ...], tuple[int, ...]], events: Sequence[EventRow]) -> None:
        # The columns of an unchanged decode batch are the same objects, so this comparison is quick then.
        is_changed = rows != self._rows
        if not events and not is_changed:
            self._num_quiet += 1
            return
        content = [event[1:] for event in events]
        self._hash.update(self._encode((self._num_quiet, content, rows if is_changed else None)))
        self._rows = rows
        self._num_quiet = 0

    def hexdigest(self) -> str:
        """The digest so far, 32 hex digits."""
        final = self._hash.copy()
        final.update(self._encode(self._num_quiet))
        return str(final.hexdigest())
