"""Owns the KV blocks: who holds which, which are free, and which content can be found in them."""

from collections.abc import Sequence as Items
from itertools import chain

from engine.block_run import BlockRun
from engine.decode_turns import decode_turns
from engine.free_list import FreeList
from engine.rules import Rules
from engine.run_table import RunTable
from engine.sequence import Sequence
from engine.stretch import Growth


class BlockManager:
    """Hands out blocks and finds prefixes that are already in one.

    A block is free or held by as many tables as its count says. A freed block keeps its key, and can be hit, until it
    is handed out again. Nothing changes unless a whole request is known to fit.

    Blocks are counted, found, freed and handed out by runs, see `BlockRun`:

        table of a   [8 2 9][1 4]| 7        runs [8 2 9] and [1 4], of which the first is shared;
        table of b   [8 2 9][5 3 6]         block 7 is not full yet and in no run
    """

    def __init__(self, num_blocks: int, block_size: int, rules: Rules) -> None:
        """Start with all blocks free.

        Args:
            num_blocks: size of the pool.
            block_size: tokens in a block.
            rules: when keys are registered, what becomes of duplicates, and the order of reuse.
        """
        self.num_blocks = num_blocks
        self.block_size = block_size
        self._rules = rules
        self._free = FreeList(num_blocks)
        self._num_held = 0
        self._runs = RunTable(rules.keep_duplicates, self._free)

    @property
    def num_free(self) -> int:
        """Blocks that nobody holds, with or without content that can be hit."""
        return len(self._free)

    @property
    def num_used(self) -> int:
        """Blocks that somebody holds."""
        return self.num_blocks - len(self._free)

    @property
    def shared_tokens(self) -> int:
        """Tokens of blocks that stand in several tables, counted for each of these but one.

        tables   [8 2 9][1 4][7]      9 places
                 [8 2 9][5 3 6]       of 9 used blocks      3 blocks are shared, and full as all shared ones are
        """
        return (self._num_held - self.num_used) * self.block_size

    def blocks_for(self, num_tokens: int) -> int:
        """Blocks that hold `num_tokens` tokens."""
        return -(-num_tokens // self.block_size)

    def find_hits(self, seq: Sequence) -> list[int]:
        """Cached blocks that hold the start of a sequence; nothing is taken.

        At least the last token is left to compute, since a step without a query token yields no logits.
        """
        if not self._rules.prefix_caching:
            return []
        limit = (seq.num_tokens - 1) // self.block_size
        hits: list[int] = []
        while len(hits) < limit:
            run = self._runs.find(seq.keys[len(hits)])
            if run is None:
                break
            hits += run.block_ids[: run.num_equal(seq.keys, limit)]
        return hits

    def can_gain_hits(self, seq: Sequence, hits: list[int]) -> bool:
        """Whether blocks that other sequences fill with their outputs could lengthen `hits`, as `find_hits` gave them.

        They cannot where the next block lies within a prompt of which only ids are known: what is generated has
        none of these.
        """
        num_hits = len(hits)
        if not self._rules.prefix_caching or num_hits == (seq.num_tokens - 1) // self.block_size:
            return False
        prompt = seq.request.prompt
        return prompt.token_ids is not None or (num_hits + 1) * self.block_size > prompt.num_tokens

    def has_room(self, hits: list[int], num_tokens: int, num_reserved: int = 0) -> bool:
        """Whether a table of `hits` and new blocks for `num_tokens` can be had while `num_reserved` blocks stay free.

        Hits that lie in the free list count as needed: taking them makes them unavailable.
        """
        num_new = max(0, self.blocks_for(num_tokens) - len(hits))
        num_needed = sum([num for run, num in self._runs.runs_of(hits) if not run.num_holders])
        return num_new + num_reserved + num_needed <= len(self._free)

    def allocate(self, seq: Sequence, hits: list[int], num_tokens: int) -> None:
        """Give a sequence without blocks its hits and new blocks for `num_tokens`; `has_room` has said yes."""
        assert not seq.block_table, f"{seq!r} has blocks already"
        for run, num_hit in self._runs.runs_of(hits):
            hit = self._runs.cut(run, num_hit) if num_hit < len(run) else run
            if not hit.num_holders:
                self._free.remove(hit)
            hit.num_holders += 1
            hit.is_open = False
            seq.newest_run = hit
        seq.block_table = [*hits, *self._take(max(0, self.blocks_for(num_tokens) - len(hits)))]
        self._num_held += len(seq.block_table)
        seq.num_outputs_before = len(seq.output_ids)
        seq.num_registered = len(hits)
        seq.num_computed_tokens = len(hits) * self.block_size
        self._set_quiet(seq)

    def extend(self, seq: Sequence, num_tokens: int) -> list[int] | None:
        """Let a sequence's table cover `num_tokens`; returns the new blocks, or None (and no change) if too few."""
        num_new = self.blocks_for(num_tokens) - len(seq.block_table)
        if num_new <= 0:
            return []
        if num_new > len(self._free):
            return None
        taken = self._take(num_new)
        self._num_held += num_new
        seq.block_table += taken
        self._set_quiet(seq)
        return taken

    def register(self, seq: Sequence, num_tokens: int) -> list[int]:
        """Make the full blocks among the first `num_tokens` tokens findable; returns those that were not before."""
        num_full = num_tokens // self.block_size
        if num_full <= seq.num_registered or not self._rules.prefix_caching:
            return []
        fresh = seq.block_table[seq.num_registered : num_full]
        run = seq.newest_run
        if run is not None and run.is_open:
            run.block_ids += fresh
            seq.num_registered = num_full
        while seq.num_registered < num_full:
            seq.num_registered = self._add_run(seq, num_full)
        self._set_quiet(seq)
        return fresh

    def unregister(self, block_ids: Items[int]) -> None:
        """Forget the content of blocks, which was never computed or cannot be trusted, and of what follows them.

        Args:
            block_ids: a table, or the last part of one that was registered.
        """
        self._runs.distrust(block_ids)

    def full_among(self, seqs: list[Sequence]) -> list[Sequence]:
        """Those of decoding sequences that need a block for their next token."""
        size = self.block_size
        return [seq for seq in seqs if seq.num_computed_tokens == len(seq.block_table) * size]

    def extend_decodes(self, full: list[Sequence]) -> dict[Sequence, tuple[int, ...]]:
        """`extend` many decoding sequences that are full by a token each; there are as many free blocks."""
        taken = self._take(len(full))
        self._num_held += len(full)
        # What was full is registered, so the next thing that can happen is that the new block becomes full.
        num_quiet = self.block_size - self._rules.prefix_caching
        for seq, block_id in zip(full, taken, strict=True):
            seq.block_table.append(block_id)
            seq.quiet_until = seq.num_computed_tokens + num_quiet
        return dict(zip(full, zip(taken), strict=True))

    def register_decodes(self, seqs: list[Sequence]) -> dict[Sequence, list[int]]:
        """`register` for many sequences that decode a token; returns the newly findable block of each with one."""
        if not self._rules.prefix_caching:
            return {}
        size = self.block_size
        filled = [seq for seq in seqs if seq.num_computed_tokens + 1 == (seq.num_registered + 1) * size]
        return {seq: self._register_filled(seq) for seq in filled}

    def _register_filled(self, seq: Sequence) -> list[int]:
        """`register` for the one block that a decoding sequence fills with its next token."""
        run = seq.newest_run
        if run is None or not run.is_open:
            return self.register(seq, seq.num_computed_tokens + 1)
        block_id = seq.block_table[seq.num_registered]
        run.block_ids.append(block_id)
        seq.num_registered += 1
        # It was due; now its table is full, unless it was given more blocks than it needed.
        seq.quiet_until += 1 if seq.num_registered == len(seq.block_table) else self.block_size
        return [block_id]

    def grow_decodes(self, seqs: list[Sequence], num_steps: int) -> tuple[Growth, ...]:
        """What `num_steps` steps, in each of which all of `seqs` decode, extend and register, in the same order.

        The tokens are known already, and there are enough free blocks. Nothing is given back meanwhile, so it makes no
        difference that all blocks are taken before any is registered.
        """
        num_seqs, size = len(seqs), self.block_size
        due = [row for row, seq in enumerate(seqs) if seq.quiet_until < seq.num_computed_tokens + num_steps]
        full = decode_turns(seqs, due, [len(seqs[row].block_table) * size for row in due], size, num_steps)
        taken = self._take(len(full))
        self._num_held += len(full)
        for turn, block_id in zip(full, taken, strict=True):
            seqs[turn % num_seqs].block_table.append(block_id)
        # Of two that come to the same content, the one that is ahead does so first.
        for row in sorted(due, key=lambda row: -seqs[row].num_computed_tokens):
            self.register(seqs[row], seqs[row].num_computed_tokens + num_steps)
        for row in due:
            self._set_quiet(seqs[row])
        return tuple([Growth(*divmod(turn, num_seqs), block_id) for turn, block_id in zip(full, taken, strict=True)])

    def release(self, seq: Sequence) -> None:
        """Take a sequence's blocks back, the last one first, so that a prefix outlives what follows it."""
        held = [run for run, _ in self._runs.runs_of(seq.block_table[: seq.num_registered])]
        for run in held:
            run.num_holders -= 1
        self._put_back([run for run in held if not run.num_holders], seq.block_table[seq.num_registered :])
        self._num_held -= len(seq.block_table)
        seq.block_table = []
        seq.newest_run = None
        seq.num_registered = seq.num_computed_tokens = seq.quiet_until = 0

    def _put_back(self, runs: list[BlockRun], rest: list[int]) -> None:
        """Free runs and, behind them in a table, blocks that were never registered."""
        # Without content are also blocks whose content has been forgotten since.
        for run in runs:
            if run.keys is None:
                self._runs.remove(run)
        if self._rules.reuse_unkeyed_first:
            unkeyed = [run.block_ids for run in runs if run.keys is None] + [rest]
            runs = [run for run in runs if run.keys is not None]
            # The last one put is the next to go, so the first of the table.
            self._free.put_first(BlockRun([*chain.from_iterable(map(reversed, reversed(unkeyed)))]))
        else:
            runs.append(BlockRun(rest))
        for run in reversed(runs):
            self._free.put_last(run)

    def _take(self, count: int) -> list[int]:
        assert count <= len(self._free), f"{count} blocks are wanted and {len(self._free)} are free"
        taken: list[int] = []
        while len(taken) < count:
            run = self._free.first()
            num_kept = len(run) - (count - len(taken))
            if num_kept <= 0:
                self._free.remove(run)
                self._runs.remove(run)
                taken += reversed(run.block_ids)
            elif self._runs.has_equal(run):
                self._runs.cut(run, num_kept)
            else:
                taken += self._free.shorten(run, len(run) - num_kept)
        return taken

    def _add_run(self, seq: Sequence, stop: int) -> int:
        """Make a run of blocks of a table, from the first that is not registered; returns where it ends."""
        start = seq.num_registered
        if seq.newest_run is not None and seq.newest_run.keys is None:
            # What it follows is forgotten: nothing could lead to it.
            run = BlockRun(seq.block_table[start:stop])
        else:
            end = self._runs.align(seq.keys, start, stop)
            run = BlockRun(seq.block_table[start : end or stop], seq.keys, start)
            run.is_open = end is None
        run.num_holders = 1
        seq.newest_run = run
        self._runs.add(run)
        return start + len(run)

    def _set_quiet(self, seq: Sequence) -> None:
        # A decode at position p needs a new block when p reaches the capacity, and fills (and registers) a block
        # when p + 1 reaches the end of the first unregistered one.
        capacity = len(seq.block_table) * self.block_size
        next_full = (seq.num_registered + 1) * self.block_size
        seq.quiet_until = min(capacity, next_full - 1) if self._rules.prefix_caching else capacity
