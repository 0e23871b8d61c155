"""The seam between deciding and computing."""

from typing import Protocol, runtime_checkable

from engine.batch import Batch
from engine.limits import Limits
from engine.step_result import StepResult


class Backend(Protocol):
    """Computes batches: a real model, a cost model of one, or a checker.

    A batch handed to `execute` is never empty. A backend sees no scheduling state and no output length to come.
    """

    @property
    def num_blocks(self) -> int:
        """KV blocks that the backend has found (real) or models (simulated)."""
        ...

    def execute(self, batch: Batch) -> StepResult:
        """Compute every row; the KV of all rows is written before any row's attention reads it.

        Raises:
            BackendError: nothing of the batch can be trusted.
            BackendEndedError: likewise, and there is no use in another batch.
        """
        ...

    def close(self) -> None:
        """Give back processes and memory; idempotent."""
        ...


@runtime_checkable
class LimitedBackend(Protocol):
    """A backend whose memory is laid out for certain limits: other blocks, or larger steps, would be wrong."""

    @property
    def limits(self) -> Limits | None:
        """Size of a block, and the most of everything else; None if it was made for none."""
        ...
