"""Lets the sequences of a load stand at their contexts without computing their prompts."""

from dataclasses import replace

from engine import Backend, Batch, StepResult
from sim.profiling.load_script import LoadScript


class SetUpBackend:
    """Satisfies `engine.Backend`. In a load's set-up only the last token of each prompt is computed.

    The blocks before it are allotted and hold what was there. Kernels take as long over that as over anything else, and
    the contexts of a sweep, hundreds of thousands of tokens each time, cost nothing to get to.

    Args:
        backend: computes.
        script: knows which step of which load this is.

    Attributes:
        labels: (number of the step, number of its load, its number in the load) of each step executed.
    """

    def __init__(self, backend: Backend, script: LoadScript) -> None:
        self._backend = backend
        self._script = script
        self.labels: list[tuple[int, int, int]] = []

    @property
    def num_blocks(self) -> int:
        """Of the backend."""
        return self._backend.num_blocks

    def execute(self, batch: Batch) -> StepResult:
        """Compute, and note which step this was."""
        script = self._script
        self.labels.append((batch.step, script.load, script.step))
        return self._backend.execute(batch if script.step else last_tokens_of(batch))

    def close(self) -> None:
        """The caller's task: the sweep does not own the backend."""


def last_tokens_of(batch: Batch) -> Batch:
    """The same rows, each with its last token alone; the shape stays what the scheduler planned."""
    firsts = [first + count - 1 for first, count in zip(batch.first_positions, batch.num_tokens, strict=True)]
    return replace(batch, first_positions=tuple(firsts), num_tokens=(1,) * len(batch))
