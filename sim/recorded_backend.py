"""A backend that answers what the backend of a recorded run has answered."""

from backends.graph_table import GraphTable
from engine import BackendError, Batch, StepResult
from sim.logged_tokens import TokenSource
from sim.recorded_steps import RecordedSteps


class RecordedBackend:
    """Satisfies `engine.Backend`: times, failures and tokens are the run's, whatever the batch holds.

    Nothing is compared here, so that a step that differs is made and recorded whole and can be shown beside the run's.
    The size of a captured graph follows from the batch, as in the simulator.
    """

    def __init__(self, steps: RecordedSteps, tokens: TokenSource, *, num_blocks: int, graphs: GraphTable) -> None:
        """Take the run's steps, outputs, KV blocks and captured graphs."""
        self._steps = steps
        self._tokens = tokens
        self._num_blocks = num_blocks
        self._graphs = graphs

    @property
    def num_blocks(self) -> int:
        """KV blocks that the run had."""
        return self._num_blocks

    def execute(self, batch: Batch) -> StepResult:
        """Answer as the run's backend has in the step of this number.

        Raises:
            BackendError: so did the run's.
        """
        token_ids = self._tokens.sample(batch)
        recorded = self._steps[batch.step]
        # The run's other failures are no row's: of a request that outgrew the pool, or of a step that differs.
        failed = {row: recorded.failed[row] for row in batch.request_ids if row in recorded.failed}
        if len(failed) == len(batch) and recorded.duration_s == 0 and len(set(failed.values())) == 1:
            # A step that could not be computed takes no time of its own, and all its rows fail for one reason.
            raise BackendError(failed[batch.request_ids[0]])
        graph_size = self._graphs.size_for(batch.shape)
        return StepResult(token_ids, recorded.duration_s, recorded.device_s, graph_size, failed)

    def close(self) -> None:
        """Nothing to give back."""
