"""The rules of the block manager, in lists that are searched from end to end."""

from dataclasses import dataclass, field

from engine import Rules

Prefix = tuple[object, ...]
"""All tokens (or what stands for them) from the start of a sequence to the end of a block."""


@dataclass(slots=True)
class BlockManagerModel:
    """Obvious and slow.

    Attributes:
        free: free blocks in the order of reuse.
        tables: blocks of each sequence that holds any.
        findable: (prefix, block) in the order in which they became findable.
        keyed: what blocks hold of which the content is known, whether or not it can still be found.
        num_registered: leading blocks of each table that have become findable, hits included.
    """

    num_blocks: int
    block_size: int
    rules: Rules
    free: list[int] = field(init=False)
    tables: dict[str, list[int]] = field(init=False, default_factory=dict)
    findable: list[tuple[Prefix, int]] = field(init=False, default_factory=list)
    keyed: dict[int, Prefix] = field(init=False, default_factory=dict)
    num_registered: dict[str, int] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.free = list(range(self.num_blocks))

    def num_holders(self, block: int) -> int:
        """Tables in which a block stands."""
        return sum(table.count(block) for table in self.tables.values())

    def find_hits(self, tokens: Prefix) -> list[int]:
        """The oldest findable block of each leading prefix, leaving at least one token."""
        hits: list[int] = []
        while (stop := (len(hits) + 1) * self.block_size) < len(tokens):
            found = [block for prefix, block in self.findable if prefix == tokens[:stop]]
            if not found:
                break
            hits.append(found[0])
        return hits

    def has_room(self, hits: list[int], num_tokens: int, num_reserved: int) -> bool:
        """Free hits are needed like new blocks."""
        needed = [block for block in hits if block in self.free]
        num_new = self._blocks_for(num_tokens) - len(hits)
        return len(needed) + num_new + num_reserved <= len(self.free)

    def allocate(self, name: str, hits: list[int], num_tokens: int) -> None:
        """Hits leave the free list wherever they stand, then the rest comes from its head."""
        self.free = [block for block in self.free if block not in hits]
        self.tables[name] = list(hits)
        self.num_registered[name] = len(hits)
        self._take(name, num_tokens)

    def extend(self, name: str, num_tokens: int) -> bool:
        """All blocks or none."""
        if self._blocks_for(num_tokens) - len(self.tables[name]) > len(self.free):
            return False
        self._take(name, num_tokens)
        return True

    def register(self, name: str, tokens: Prefix) -> list[int]:
        """The blocks that `tokens` fill become findable; returns those that were not before."""
        fresh: list[int] = []
        while self.rules.prefix_caching and (stop := (self.num_registered[name] + 1) * self.block_size) <= len(tokens):
            block = self.tables[name][self.num_registered[name]]
            before = self.tables[name][: self.num_registered[name]]
            if not before or before[-1] in self.keyed:
                self._make_findable(tokens[:stop], block)
            self.num_registered[name] += 1
            fresh.append(block)
        return fresh

    def unregister(self, blocks: list[int]) -> None:
        """Their content is unknown from now on, and so is what nothing leads to any more."""
        self._forget(blocks)
        while blocks:
            known = {(), *self.keyed.values()}
            blocks = [block for block, prefix in self.keyed.items() if prefix[: -self.block_size] not in known]
            self._forget(blocks)

    def release(self, name: str) -> None:
        """Last block first; without content to the head if the rules say so, else to the tail."""
        for block in reversed(self.tables.pop(name)):
            if self.num_holders(block) == 0:
                is_first = self.rules.reuse_unkeyed_first and block not in self.keyed
                self.free.insert(0 if is_first else len(self.free), block)

    def _take(self, name: str, num_tokens: int) -> None:
        while len(self.tables[name]) < self._blocks_for(num_tokens):
            block = self.free.pop(0)
            self._forget([block])
            self.tables[name].append(block)

    def _make_findable(self, prefix: Prefix, block: int) -> None:
        if not self.rules.keep_duplicates:
            self.findable = [(other, found) for other, found in self.findable if other != prefix]
        self.findable.append((prefix, block))
        self.keyed[block] = prefix

    def _forget(self, blocks: list[int]) -> None:
        self.findable = [(prefix, block) for prefix, block in self.findable if block not in blocks]
        self.keyed = {block: prefix for block, prefix in self.keyed.items() if block not in blocks}

    def _blocks_for(self, num_tokens: int) -> int:
        return len(range(0, num_tokens, self.block_size))
