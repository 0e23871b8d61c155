"""One step while the policy is still deciding; it becomes a `Batch`."""

from collections.abc import Sequence as Items
from dataclasses import dataclass, field
from typing import NamedTuple

from engine.sequence import Sequence


class Admitted(NamedTuple):
    """A sequence that got its blocks in this step."""

    seq: Sequence
    block_table: tuple[int, ...]
    num_hit_tokens: int
    is_resumed: bool


@dataclass(slots=True, eq=False)
class Draft:
    """What has been decided so far.

    Attributes:
        rows: scheduled sequences, in order, with their token counts.
        is_decode_of_all: whether the rows are all running sequences with one token each.
        num_leading: rows at the start that decode one token and are all live.
        new_blocks: blocks that running sequences grew by.
        registered: blocks whose keys this step made known before they are computed, by owner.
        admitted: sequences that got their blocks.
        preempted: sequences that lost them.
        failed: sequences that can never go on.
        num_new_blocks: blocks handed out, withdrawn ones included.
    """

    rows: dict[Sequence, int] = field(default_factory=dict)
    is_decode_of_all: bool = False
    num_leading: int = 0
    new_blocks: dict[Sequence, tuple[int, ...]] = field(default_factory=dict)
    registered: dict[Sequence, list[int]] = field(default_factory=dict)
    admitted: list[Admitted] = field(default_factory=list)
    preempted: list[Sequence] = field(default_factory=list)
    failed: list[Sequence] = field(default_factory=list)
    num_new_blocks: int = 0

    def add_row(self, seq: Sequence, num_tokens: int) -> None:
        """Schedule a sequence's next tokens."""
        self.rows[seq] = num_tokens
        self.is_decode_of_all = False

    def lead(self, rows: dict[Sequence, int], is_all: bool) -> None:
        """Schedule the one next token of the first running sequences, or of all."""
        self.rows = rows
        self.num_leading = len(rows)
        self.is_decode_of_all = is_all

    def lose_a_row(self) -> None:
        """A row has been withdrawn or its sequence has ended: nothing is known of the first rows any more."""
        self.is_decode_of_all = False
        self.num_leading = 0

    def grow_all(self, new_blocks: dict[Sequence, tuple[int, ...]]) -> None:
        """Note one block for each of many sequences that are the first to get any."""
        self.new_blocks = new_blocks
        self.num_new_blocks = len(new_blocks)

    def admit(self, seq: Sequence, num_new: int, num_hit_tokens: int) -> None:
        """Note an admission."""
        self.admitted.append(Admitted(seq, tuple(seq.block_table), num_hit_tokens, seq.was_admitted))
        self.num_new_blocks += num_new

    def grow(self, seq: Sequence, block_ids: Items[int]) -> None:
        """Note blocks that a sequence got after its admission."""
        self.new_blocks[seq] = tuple(block_ids)
        self.num_new_blocks += len(block_ids)

    def withdraw(self, seq: Sequence) -> int:
        """Forget a row; returns its tokens, 0 if it had none."""
        self.lose_a_row()
        self.admitted = [admitted for admitted in self.admitted if admitted.seq is not seq]
        self.new_blocks.pop(seq, None)
        return self.rows.pop(seq, 0)

    def holders_of(self, block_ids: Items[int]) -> list[Sequence]:
        """Sequences admitted in this step whose tables hold one of the blocks."""
        wanted = set(block_ids)
        return [admitted.seq for admitted in self.admitted if wanted.intersection(admitted.block_table)]
