"""A backend that keeps what attention would read, slot by slot, and fails when a read or a write would be wrong."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from engine import Admission, Batch, Prompt, StepResult

NUM_TOKEN_IDS = 97
"""Few, so that stop tokens turn up."""


class Entry(NamedTuple):
    """KV of one token; `prefix` stands for all tokens before it, since keys and values depend on them too."""

    position: int
    token_id: int
    prefix: int


def prompt_tokens(prompt: Prompt) -> list[int]:
    """Tokens of a prompt; where only content ids are known, a token is a hash of (id, position)."""
    if prompt.token_ids is not None:
        return list(prompt.token_ids)
    content_ids = [content_id for content_id, count in prompt.segments for _ in range(count)]
    return [hash((content_id, position)) for position, content_id in enumerate(content_ids)]


def entries_of(token_ids: Sequence[int]) -> list[Entry]:
    """What the cache must hold for a sequence of tokens."""
    entries: list[Entry] = []
    for token_id in token_ids:
        entries.append(_entry_after(entries, token_id))
    return entries


def next_token(context: Sequence[Entry | None]) -> int:
    """The token that follows a context: a hash of everything read."""
    return hash(tuple(context)) % NUM_TOKEN_IDS


def uninterrupted(prompt: Prompt, max_tokens: int) -> list[int]:
    """The outputs of a request that nothing delays, cuts, caches or preempts."""
    entries = entries_of(prompt_tokens(prompt))
    for _ in range(max_tokens):
        entries.append(_entry_after(entries, next_token(entries)))
    return [entry.token_id for entry in entries[prompt.num_tokens :]]


def _entry_after(entries: Sequence[Entry], token_id: int) -> Entry:
    return Entry(len(entries), token_id, hash(entries[-1]) if entries else 0)


@dataclass(slots=True)
class Held:
    """What the backend knows of a request that holds blocks; `own` are those that it got new and may write."""

    entries: list[Entry]
    table: list[int]
    num_computed: int
    own: set[int] = field(default_factory=set)


class Row(NamedTuple):
    """One row of a batch."""

    request_id: str
    first: int
    num_tokens: int
    samples: bool

    @property
    def stop(self) -> int:
        """Length of the context that the row's last token attends to."""
        return self.first + self.num_tokens


class KvCheckingBackend:
    """Writes the KV of all rows, then reads each row's whole context through its block table.

    An AssertionError says what is wrong. The token returned is a hash of what was read, so two runs that read the same
    give the same tokens; `answer` replaces them (the checks stay).
    """

    def __init__(self, num_blocks: int, block_size: int, answer: Callable[[Batch], StepResult] | None = None) -> None:
        """Start with no slot written."""
        self.num_blocks = num_blocks
        self.held: dict[str, Held] = {}
        self.lost: frozenset[str] = frozenset()
        """Rows of the last batch that failed, or read what a failed row should have written."""
        self._block_size = block_size
        self._slots: list[Entry | None] = [None] * (num_blocks * block_size)
        self._answer = answer

    def block(self, block_id: int) -> list[Entry | None]:
        """Content of a block."""
        return self._slots[block_id * self._block_size : (block_id + 1) * self._block_size]

    def execute(self, batch: Batch, failing: Collection[str] = ()) -> StepResult:
        """Check and compute a batch; the rows named in `failing` write nothing."""
        rows = self._accept(batch)
        self.lost = self._lost_rows(rows, failing)
        good = [row for row in rows if row.request_id not in self.lost]
        for row in good:
            self._write(row)
        tokens = {row.request_id: next_token(self._read(row)) for row in good}
        if self._answer:
            sampling = [row.request_id for row in rows if row.samples]
            tokens |= zip(sampling, self._answer(batch).token_ids, strict=True)
        for row in rows:
            self._advance(row, tokens.get(row.request_id, 0))
        token_ids = tuple([tokens.get(row.request_id, 0) for row in rows if row.samples])
        return StepResult(token_ids, 0.0, 0.0, failed=dict.fromkeys(failing, "The row was told to fail."))

    def close(self) -> None:
        """Nothing to give back."""

    def _accept(self, batch: Batch) -> list[Row]:
        for request_id in batch.released:
            self.held.pop(request_id, None)  # a request admitted and preempted within one step never got here
        for request_id, block_ids in batch.new_blocks:
            self._hand_out(request_id, block_ids)
        for admission in batch.admitted:
            self._admit(admission)
        columns = zip(batch.request_ids, batch.first_positions, batch.num_tokens, batch.samples, strict=True)
        rows = [Row(*column) for column in columns]
        assert len({row.request_id for row in rows}) == len(rows), f"a request has two rows: {batch.request_ids}"
        for row in rows:
            self._check(row)
        return rows

    def _admit(self, admission: Admission) -> None:
        request_id, hits = admission.request_id, admission.num_hit_tokens
        assert request_id not in self.held, f"{request_id} is admitted but holds blocks already"
        entries = entries_of([*prompt_tokens(admission.prompt), *admission.output_ids])
        num_hit_blocks = hits // self._block_size
        self.held[request_id] = Held(entries, list(admission.block_table[:num_hit_blocks]), hits)
        self._hand_out(request_id, admission.block_table[num_hit_blocks:])

    def _hand_out(self, request_id: str, block_ids: Sequence[int]) -> None:
        """Blocks that are new to a request hold nothing any more, and nobody else may hold them."""
        for block_id in block_ids:
            holders = [other for other, held in self.held.items() if block_id in held.table]
            assert not holders, f"block {block_id} is handed to {request_id} while {holders} hold it"
            first = block_id * self._block_size
            self._slots[first : first + self._block_size] = [None] * self._block_size
            self.held[request_id].table.append(block_id)
            self.held[request_id].own.add(block_id)

    def _check(self, row: Row) -> None:
        assert row.request_id in self.held, f"{row} holds no blocks"
        held = self.held[row.request_id]
        assert row.num_tokens >= 1, f"{row} computes nothing"
        assert row.first == held.num_computed, f"{row} does not go on at position {held.num_computed}"
        assert row.stop <= len(held.entries), f"{row} goes beyond its {len(held.entries)} known tokens"
        assert row.samples == (row.stop == len(held.entries)), f"{row} has {len(held.entries)} known tokens"
        assert row.stop <= len(held.table) * self._block_size, f"{row} goes beyond its blocks {held.table}"

    def _lost_rows(self, rows: Sequence[Row], failing: Collection[str]) -> frozenset[str]:
        """Failing rows, and rows after them whose tables hold a block that a lost row should have written."""
        lost, spoiled = set(failing), set[int]()
        for row in rows:
            if row.request_id in lost or not spoiled.isdisjoint(self.held[row.request_id].table):
                lost.add(row.request_id)
                spoiled.update(block_id for block_id, _ in self._places(row))
        return frozenset(lost)

    def _places(self, row: Row) -> Iterator[tuple[int, int]]:
        table = self.held[row.request_id].table
        for position in range(row.first, row.stop):
            index, offset = divmod(position, self._block_size)
            yield table[index], table[index] * self._block_size + offset

    def _write(self, row: Row) -> None:
        held = self.held[row.request_id]
        for (block_id, slot), entry in zip(self._places(row), held.entries[row.first : row.stop], strict=True):
            assert block_id in held.own, f"{row} writes into block {block_id}, which it only shares"
            assert self._slots[slot] is None, f"{row} writes slot {slot} of block {block_id} again"
            self._slots[slot] = entry

    def _read(self, row: Row) -> list[Entry | None]:
        held = self.held[row.request_id]
        read = [entry for block_id in held.table for entry in self.block(block_id)][: row.stop]
        if read == held.entries[: row.stop]:
            return read
        for position, (found, right) in enumerate(zip(read, held.entries, strict=False)):
            block_id = held.table[position // self._block_size]
            assert found is not None, f"{row} reads position {position} in block {block_id}, which nobody has written"
            assert found == right, f"{row} reads {found} in block {block_id} where {right} should be"
        raise AssertionError(f"{row} reads only {len(read)} positions")

    def _advance(self, row: Row, token_id: int) -> None:
        held = self.held[row.request_id]
        held.num_computed = row.stop
        if row.samples:
            held.entries.append(_entry_after(held.entries, token_id))
