"""Owns the KV blocks: who holds which, which are free, and which content can be found in them."""

from collections.abc import Sequence as Items
from collections.abc import Set

from engine.free_list import FreeList
from engine.key_index import KeyIndex
from engine.rules import Rules
from engine.sequence import Sequence
from engine.stretch import Growth


class BlockManager:
    """Hands out blocks and finds prefixes that are already in one.

    A block is free or held by as many tables as its count says. A freed block keeps its key, and can be hit, until it
    is handed out again. Nothing changes unless a whole request is known to fit.
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
        self._index = KeyIndex(num_blocks, rules.keep_duplicates)
        self._num_sharers: dict[int, int] = {}
        # Held blocks that count as registered, but whose content was forgotten.
        self._spoilt: set[int] = set()

    @property
    def num_free(self) -> int:
        """Blocks that nobody holds, with or without content that can be hit."""
        return len(self._free)

    @property
    def num_used(self) -> int:
        """Blocks that somebody holds."""
        return self.num_blocks - len(self._free)

    def num_holders(self, block_id: int) -> int:
        """Tables that hold a block."""
        return 0 if block_id in self._free else 1 + self._num_sharers.get(block_id, 0)

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
        self._extend_keys(seq, limit)
        hits = []
        for block_id in map(self._index.find, seq.keys[:limit]):
            if block_id is None:
                break
            hits.append(block_id)
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
        return num_new + num_reserved + len(self._free.ids & set(hits)) <= len(self._free)

    def allocate(self, seq: Sequence, hits: list[int], num_tokens: int) -> None:
        """Give a sequence without blocks its hits and new blocks for `num_tokens`; `has_room` has said yes."""
        assert not seq.block_table, f"{seq!r} has blocks already"
        for block_id in hits:
            if block_id in self._free:
                self._free.remove(block_id)
            else:
                self._num_sharers[block_id] = self._num_sharers.get(block_id, 0) + 1
        seq.block_table = [*hits, *self._take(max(0, self.blocks_for(num_tokens) - len(hits)))]
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
        seq.block_table += taken
        self._set_quiet(seq)
        return taken

    def register(self, seq: Sequence, num_tokens: int) -> list[int]:
        """Make the full blocks among the first `num_tokens` tokens findable; returns those that were not before."""
        num_full = num_tokens // self.block_size
        if num_full <= seq.num_registered or not self._rules.prefix_caching:
            return []
        self._extend_keys(seq, num_full)
        fresh, keys = seq.block_table[seq.num_registered : num_full], seq.keys[seq.num_registered : num_full]
        self._index.add(keys, fresh)
        seq.num_registered = num_full
        self._set_quiet(seq)
        return fresh

    def unregister(self, block_ids: Items[int]) -> None:
        """Forget the content of blocks: it was never computed, or cannot be trusted."""
        held = [block_id for block_id in block_ids if block_id not in self._free]
        self._spoilt.update([block_id for block_id in held if self._index.key_of(block_id) is not None])
        self._index.forget(block_ids)

    def is_full(self, seq: Sequence) -> bool:
        """Whether a decoding sequence needs a block for its next token."""
        return seq.num_computed_tokens == len(seq.block_table) * self.block_size

    def extend_decodes(self, full: list[Sequence]) -> dict[Sequence, tuple[int, ...]]:
        """`extend` many decoding sequences that are full by a token each; there are as many free blocks."""
        taken = self._take(len(full))
        for seq, block_id in zip(full, taken, strict=True):
            seq.block_table.append(block_id)
            self._set_quiet(seq)
        return {seq: (block_id,) for seq, block_id in zip(full, taken, strict=True)}

    def register_decodes(self, seqs: list[Sequence]) -> dict[Sequence, list[int]]:
        """`register` for many sequences that decode a token; returns the newly findable block of each with one."""
        if not self._rules.prefix_caching:
            return {}
        size = self.block_size
        filled = [seq for seq in seqs if seq.num_computed_tokens + 1 == (seq.num_registered + 1) * size]
        for seq in filled:
            # One block each: what `register` does, without its slices.
            index = seq.num_registered
            if len(seq.keys) == index:
                seq.request.prompt.extend_keys(seq.keys, seq.output_ids, size, index + 1)
            seq.num_registered = index + 1
            seq.quiet_until = min(len(seq.block_table) * size, (index + 2) * size - 1)
        keys = [seq.keys[seq.num_registered - 1] for seq in filled]
        block_ids = [seq.block_table[seq.num_registered - 1] for seq in filled]
        self._index.add(keys, block_ids)
        return {seq: [block_id] for seq, block_id in zip(filled, block_ids, strict=True)}

    def grow_decodes(self, seqs: list[Sequence], num_steps: int) -> tuple[Growth, ...]:
        """What `num_steps` steps, in each of which all of `seqs` decode, extend and register, in the same order.

        The tokens are known already, and there are enough free blocks. Nothing is given back meanwhile, so it makes no
        difference that all blocks are taken before any is registered.
        """
        num_seqs, size = len(seqs), self.block_size
        full = _turns(seqs, [len(seq.block_table) * size for seq in seqs], size, num_steps)
        taken = self._take(len(full))
        for turn, block_id in zip(full, taken, strict=True):
            seqs[turn % num_seqs].block_table.append(block_id)
        if self._rules.prefix_caching:
            lasts = [(seq.num_registered + 1) * size - 1 for seq in seqs]
            self._register_turns([seqs[turn % num_seqs] for turn in _turns(seqs, lasts, size, num_steps)], num_steps)
        for seq in seqs:
            if seq.quiet_until < seq.num_computed_tokens + num_steps:
                self._set_quiet(seq)
        return tuple([Growth(*divmod(turn, num_seqs), block_id) for turn, block_id in zip(full, taken, strict=True)])

    def _register_turns(self, filled: list[Sequence], num_steps: int) -> None:
        """Make the next block of each findable; a sequence comes as often as it fills one."""
        keys, block_ids = [], []
        for seq in filled:
            index = seq.num_registered
            if len(seq.keys) == index:
                self._extend_keys(seq, (seq.num_computed_tokens + num_steps) // self.block_size)
            keys.append(seq.keys[index])
            block_ids.append(seq.block_table[index])
            seq.num_registered = index + 1
        self._index.add(keys, block_ids)

    def release(self, seq: Sequence) -> None:
        """Take a sequence's blocks back, the last one first, so that a prefix outlives what follows it."""
        # Blocks with content are the registered ones, which alone can be shared.
        keyed, unkeyed = seq.block_table[: seq.num_registered][::-1], seq.block_table[seq.num_registered :][::-1]
        shared = self._num_sharers.keys() & keyed
        if shared:
            self._leave(shared)
            keyed = [block_id for block_id in keyed if block_id not in shared]
        self._put_back(keyed, unkeyed)
        seq.block_table = []
        seq.num_registered = seq.num_computed_tokens = seq.quiet_until = 0

    def _leave(self, shared: Set[int]) -> None:
        for block_id in shared:
            self._num_sharers[block_id] -= 1
            if not self._num_sharers[block_id]:
                del self._num_sharers[block_id]

    def _put_back(self, keyed: list[int], unkeyed: list[int]) -> None:
        spoilt = self._spoilt.intersection(keyed) if self._spoilt else ()
        self._spoilt.difference_update(spoilt)
        if not self._rules.reuse_unkeyed_first:
            self._free.put_last(unkeyed + keyed)
            return
        if spoilt:
            unkeyed += [block_id for block_id in keyed if block_id in spoilt]
            keyed = [block_id for block_id in keyed if block_id not in spoilt]
        self._free.put_first(unkeyed)
        self._free.put_last(keyed)

    def _take(self, count: int) -> list[int]:
        taken = self._free.take(count)
        self._index.forget(taken)
        return taken

    def _extend_keys(self, seq: Sequence, num_blocks: int) -> None:
        if len(seq.keys) < num_blocks:
            seq.request.prompt.extend_keys(seq.keys, seq.output_ids, self.block_size, num_blocks)

    def _set_quiet(self, seq: Sequence) -> None:
        # A decode at position p needs a new block when p reaches the capacity, and fills (and registers) a block
        # when p + 1 reaches the end of the first unregistered one.
        capacity = len(seq.block_table) * self.block_size
        next_full = (seq.num_registered + 1) * self.block_size
        seq.quiet_until = min(capacity, next_full - 1) if self._rules.prefix_caching else capacity


def _turns(seqs: list[Sequence], positions: list[int], block_size: int, num_steps: int) -> list[int]:
    """When sequences that all decode reach the position given for each, and again each time a block further.

    turn   0 ... n - 1 | n ... 2n - 1 | ...      turn = step x n + row, for n sequences
           first step  | second       |
    """
    num_seqs = len(seqs)
    turns: list[int] = []
    for row, (seq, position) in enumerate(zip(seqs, positions, strict=True)):
        offset = position - seq.num_computed_tokens
        if offset < num_steps:
            turns += range(offset * num_seqs + row, num_steps * num_seqs, block_size * num_seqs)
    turns.sort()
    return turns
