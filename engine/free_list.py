"""The blocks that nobody holds, in the order in which they will be handed out."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence, Set


class FreeList:
    """An ordered set of block ids; taking, putting and removing one from the middle are O(1).

        next to go   stack[-1] ... stack[0]   queue[0] ... queue[-1]   last to go
                     put first, no content    put last

    A block that is removed from the middle leaves its entry in the queue, which is skipped when it comes to the front:
    deleting from the middle of a linked list, for every block taken, cost more than all else that is done to a block.
    """

    def __init__(self, num_blocks: int) -> None:
        """Start with all blocks 0 .. num_blocks - 1, in that order."""
        self._stack: list[int] = []
        self._queue = deque(range(num_blocks))
        self._num_stale: dict[int, int] = {}
        self._ids = set(self._queue)

    @property
    def ids(self) -> Set[int]:
        """The free blocks, in no order; it changes as they do."""
        return self._ids

    def take(self, count: int) -> list[int]:
        """Remove and return the first `count` blocks."""
        assert count <= len(self._ids), f"{count} blocks are wanted and {len(self._ids)} are free"
        stack, num_left = self._stack, count - len(self._stack)
        if num_left <= 0:
            taken = stack[: -count - 1 : -1]
            del stack[len(stack) - count :]
        else:
            taken = [*reversed(stack), *self._take_from_queue(num_left)]
            stack.clear()
        self._ids.difference_update(taken)
        return taken

    def put_first(self, block_ids: Sequence[int]) -> None:
        """Put blocks without content at the head, one before the other: the last of them is the next to go."""
        self._note_free(block_ids)
        self._stack += block_ids

    def put_last(self, block_ids: Sequence[int]) -> None:
        """Put blocks at the tail, one behind the other."""
        self._note_free(block_ids)
        self._queue += block_ids

    def remove(self, block_id: int) -> None:
        """Take a block that was put last, or never taken, out of the middle."""
        self._ids.remove(block_id)
        self._num_stale[block_id] = self._num_stale.get(block_id, 0) + 1
        if len(self._queue) > 2 * (len(self._ids) + len(self._num_stale)):
            self._queue = deque(_skip_stale(self._queue, self._num_stale))

    def _take_from_queue(self, count: int) -> list[int]:
        pop = self._queue.popleft
        taken = [pop() for _ in range(count)]
        while not self._num_stale.keys().isdisjoint(taken):
            taken = list(_skip_stale(taken, self._num_stale))
            taken += [pop() for _ in range(count - len(taken))]
        return taken

    def _note_free(self, block_ids: Sequence[int]) -> None:
        ids = self._ids
        num_free = len(ids) + len(block_ids)
        ids.update(block_ids)
        assert len(ids) == num_free, f"one of the blocks {block_ids} is free already"

    def __contains__(self, block_id: int) -> bool:
        """Whether the block is free."""
        return block_id in self._ids

    def __len__(self) -> int:
        """Number of free blocks."""
        return len(self._ids)

    def __iter__(self) -> Iterator[int]:
        """Block ids from head to tail."""
        yield from reversed(self._stack)
        yield from _skip_stale(self._queue, dict(self._num_stale))


def _skip_stale(entries: Iterable[int], num_stale: dict[int, int]) -> Iterator[int]:
    """Entries of blocks that are free; a block's stale entries are older than its other one, and are counted down."""
    for block_id in entries:
        if block_id not in num_stale:
            yield block_id
        elif num_stale[block_id] == 1:
            del num_stale[block_id]
        else:
            num_stale[block_id] -= 1
