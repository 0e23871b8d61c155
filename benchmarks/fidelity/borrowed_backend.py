"""A backend that outlives the runs on it."""

from engine import Backend


class BorrowedBackend:
    """Satisfies `engine.Backend`: another backend, with fewer blocks if wanted, that closing does not close.

    Loading a model takes longer than many a run. A scheduler that starts anew on a backend finds an empty cache.

    Args:
        backend: computes.
        num_blocks: KV blocks that may be used, no more than it has.
    """

    def __init__(self, backend: Backend, num_blocks: int) -> None:
        assert num_blocks <= backend.num_blocks, "blocks that are not there"
        self._num_blocks = num_blocks
        self.execute = backend.execute
        """The backend's own method, so that nothing is added to the time of a step."""

    @property
    def num_blocks(self) -> int:
        """Those that may be used."""
        return self._num_blocks

    def close(self) -> None:
        """Nothing: the lender closes it."""
