"""A backend that predicts how long a batch takes instead of computing it."""

from collections.abc import Iterable

from backends.cost_model import CostModel, StepColumns
from backends.foreseeing_backend import StretchTimes
from backends.graph_table import GraphTable
from backends.replay_tokens import ReplayTokens
from backends.simulated.stretch_columns import columns_of
from engine.batch import Batch
from engine.errors import SettingError
from engine.step_result import StepResult
from engine.stretch import Stretch


class SimulatedBackend:
    """Satisfies `engine.Backend` and `ForeseeingBackend` with a cost model; needs no GPU.

    A step runs in the smallest captured graph that holds it, or eager. Output tokens are a fixed function of request id
    and position.

    Args:
        cost_model: predicts step times.
        num_blocks: KV blocks to model.
        graph_sizes: rows of captured decode steps; empty if every step runs eager.
        mixed_graph_sizes: tokens of captured steps with chunks.
        vocab_size: output tokens are below this.

    Raises:
        SettingError: `num_blocks`, `vocab_size` or a graph size is below 1.
    """

    def __init__(
        self,
        cost_model: CostModel,
        *,
        num_blocks: int,
        graph_sizes: Iterable[int],
        mixed_graph_sizes: Iterable[int] = (),
        vocab_size: int,
    ) -> None:
        for name, value in (("num_blocks", num_blocks), ("vocab_size", vocab_size)):
            if value < 1:
                raise SettingError(f"{name} is {value}; it must be at least 1.")
        self._cost_model = cost_model
        self._num_blocks = num_blocks
        self._graphs = GraphTable(graph_sizes, mixed_graph_sizes)
        self._tokens = ReplayTokens(vocab_size)

    @property
    def num_blocks(self) -> int:
        """KV blocks that are modelled."""
        return self._num_blocks

    def execute(self, batch: Batch) -> StepResult:
        """Predict the step's times and make up its tokens.

        Raises:
            RecordedStepsError: the cost model replays a recorded run, and this step is not in it.
        """
        shape = batch.shape
        graph_size = self._graphs.size_for(shape)
        times = self._cost_model.step_times(StepColumns.one_row(shape, graph_size))
        return StepResult(self._tokens.sample(batch), times.duration_s, times.device_s, graph_size)

    def foresee(self, stretch: Stretch) -> StretchTimes:
        """See `ForeseeingBackend`. With a recorded run use `execute`: each step foreseen would count as one taken."""
        graph_size = self._graphs.size_of(len(stretch.request_ids), 0, 0)
        times = self._cost_model.step_times(columns_of(stretch, graph_size))
        return StretchTimes(times.duration_s, times.device_s, graph_size)

    def sample(self, stretch: Stretch, num_steps: int) -> list[list[int]]:
        """See `ForeseeingBackend`."""
        return self._tokens.sample_many(stretch, num_steps)

    def close(self) -> None:
        """Nothing to give back."""
