"""What a policy sees in one step, and what it may ask for."""

from collections.abc import Sequence as Items

from engine.block_manager import BlockManager
from engine.draft import Draft
from engine.errors import PolicyError
from engine.limits import Limits
from engine.rules import Rules
from engine.running_set import RunningSet
from engine.sequence import Sequence
from engine.waiting_queue import WaitingQueue


class View:
    """One step in the making.

    A policy reads `running` and `waiting` and calls the methods below; what it asks for happens to queues and blocks
    at once, and becomes the step's `Batch` when the policy returns.

    Attributes:
        limits: sizes that hold for every policy; the view does not check them, but a step that exceeds one is refused.
        running: sequences that hold blocks, in admission order.
        waiting: sequences that want blocks, head first.
        budget: tokens left of the step's `max_num_batched_tokens`.
    """

    __slots__ = ("_blocks", "_draft", "_rules", "budget", "limits", "running", "waiting")

    def __init__(
        self,
        limits: Limits,
        rules: Rules,
        blocks: BlockManager,
        running: RunningSet,
        waiting: WaitingQueue,
        draft: Draft,
    ) -> None:
        """Start with an empty step and the whole budget."""
        self.limits = limits
        self.running = running
        self.waiting = waiting
        self.budget = limits.max_num_batched_tokens
        self._rules = rules
        self._blocks = blocks
        self._draft = draft

    @property
    def num_rows(self) -> int:
        """Sequences scheduled so far."""
        return len(self._draft.rows)

    @property
    def has_preempted(self) -> bool:
        """Whether this step has taken blocks from anyone."""
        return bool(self._draft.preempted or self._draft.failed)

    @property
    def num_unfinished(self) -> int:
        """Sequences that wait or run."""
        return len(self.running) + len(self.waiting)

    @property
    def num_blocks(self) -> int:
        """Size of the block pool."""
        return self._blocks.num_blocks

    def find_hits(self, seq: Sequence) -> list[int]:
        """Cached blocks with the start of a waiting sequence: `len(hits) * limits.block_size` tokens need no work."""
        return self._blocks.find_hits(seq)

    def can_gain_hits(self, seq: Sequence, hits: list[int]) -> bool:
        """Whether `hits` of a waiting sequence can become more because others decode."""
        return self._blocks.can_gain_hits(seq, hits)

    def has_room(self, hits: list[int], num_tokens: int, num_reserved: int = 0) -> bool:
        """Whether blocks for `num_tokens` tokens, of which `hits` are cached, can be had and `num_reserved` kept."""
        return self._blocks.has_room(hits, num_tokens, num_reserved)

    def allocate(self, seq: Sequence, hits: list[int], num_tokens: int) -> None:
        """Give a waiting sequence its hits and new blocks for its first `num_tokens` tokens; ask `has_room` first.

        Raises:
            PolicyError: there are not so many free blocks.
        """
        num_new = self._blocks.blocks_for(num_tokens) - len(hits)
        if num_new > self._blocks.num_free:  # cheaper than `has_room`, which also looks where the hits lie
            raise PolicyError(
                f"{seq!r} would need {num_new} new blocks, and {self._blocks.num_free} are free; ask view.has_room "
                "first."
            )
        self._blocks.allocate(seq, hits, num_tokens)
        self._draft.admit(seq, num_new=len(seq.block_table) - len(hits), num_hit_tokens=seq.num_computed_tokens)

    def start(self, seq: Sequence) -> None:
        """Move a sequence from waiting to running."""
        self.waiting.remove(seq)
        self.running.add(seq)

    def admit(self, seq: Sequence, hits: list[int], num_tokens: int) -> None:
        """Let a waiting sequence run and compute `num_tokens` tokens after its hits; ask `has_room` first."""
        self.allocate(seq, hits, len(hits) * self.limits.block_size + num_tokens)
        self.start(seq)
        computed = self.compute(seq, num_tokens)
        assert computed, f"{seq!r} was admitted without room for its tokens"

    def compute(self, seq: Sequence, num_tokens: int) -> bool:
        """Schedule a sequence's next `num_tokens` tokens; False, and no change, if blocks are missing.

        Raises:
            PolicyError: it holds no blocks, has not so many tokens left to compute, or is scheduled already.
        """
        num_remaining = seq.num_prompt_tokens + len(seq.output_ids) - seq.num_computed_tokens
        if not seq.block_table:
            raise PolicyError(f"{seq!r} holds no blocks, so nothing of it can be computed; admit it first.")
        if not 1 <= num_tokens <= num_remaining or seq in self._draft.rows:
            raise PolicyError(
                f"{num_tokens} tokens of {seq!r} were asked for; a step computes from 1 to {seq.num_remaining}, once "
                f"({seq.num_computed_tokens} are computed already, prefix hits included)."
            )
        stop = seq.num_computed_tokens + num_tokens
        if seq.num_computed_tokens >= seq.quiet_until or num_tokens > 1:
            new_blocks = self._blocks.extend(seq, stop)
            if new_blocks is None:
                return False
            self._note_blocks(seq, new_blocks, stop)
        self._draft.add_row(seq, num_tokens)
        self.budget -= num_tokens
        return True

    def decode_leading(self, max_rows: int) -> int:
        """Schedule the one next token of running sequences, as `compute` would for each in order, but quickly.

        It begins with the first and ends before one that has more than one token to compute or finds no free block.

        Args:
            max_rows: most sequences.

        Returns:
            How many were scheduled; 0 if the step has rows already.
        """
        if self._draft.rows:
            return 0
        leading = self.running.leading_decodes(max_rows)
        due = [seq for seq in leading if seq.num_computed_tokens >= seq.quiet_until]
        if due:
            leading = self._extend_decodes(leading, due)
        self._draft.lead(self.running.decode_rows(leading), is_all=len(leading) == len(self.running))
        self.budget -= len(leading)
        return len(leading)

    def _extend_decodes(self, leading: list[Sequence], due: list[Sequence]) -> list[Sequence]:
        """Blocks and keys for those that are due; returns those for which there are blocks."""
        full = self._blocks.full_among(due)
        if len(full) > self._blocks.num_free:
            leading = leading[: leading.index(full[self._blocks.num_free])]
            due = [seq for seq in leading if seq.num_computed_tokens >= seq.quiet_until]
            full = full[: self._blocks.num_free]
        self._draft.grow_all(self._blocks.extend_decodes(full))
        if self._rules.register_when == "scheduled":
            self._draft.registered = self._blocks.register_decodes(due)
        return leading

    def preempt(self, seq: Sequence) -> None:
        """Take a running sequence's blocks and put it back to waiting; if it was scheduled, its budget comes back.

        A sequence that runs alone and is longer than the pool can never go on: it fails.
        """
        can_go_on = len(self.running) > 1 or self._blocks.blocks_for(seq.num_tokens) <= self._blocks.num_blocks
        self.running.remove(seq)
        self.budget += self._draft.withdraw(seq)
        self._forget_uncomputed(seq)
        self._blocks.release(seq)
        if can_go_on:
            seq.num_preemptions += 1
            self._draft.preempted.append(seq)
            self.waiting.put_back(seq)
        else:
            self._draft.failed.append(seq)

    def _forget_uncomputed(self, owner: Sequence) -> None:
        """Drop the keys that a row of this step has made known; whoever was admitted on them goes back with it."""
        fresh = self._draft.registered.pop(owner, [])
        self._blocks.unregister(fresh)
        for seq in self._draft.holders_of(fresh):
            if seq.is_running:  # not the owner, nor one that has gone back with another holder
                self.preempt(seq)

    def _note_blocks(self, seq: Sequence, new_blocks: Items[int], stop: int) -> None:
        if new_blocks:
            self._draft.grow(seq, new_blocks)
        if self._rules.register_when == "scheduled":
            fresh = self._blocks.register(seq, stop)
            if fresh:
                self._draft.registered.setdefault(seq, []).extend(fresh)
