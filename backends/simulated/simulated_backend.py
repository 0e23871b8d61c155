"""A backend that predicts how long a batch takes instead of computing it."""

from collections.abc import Iterable
from typing import Self

from backends.cost_model import CostModel, StepColumns
from backends.foreseeing_backend import StretchTimes
from backends.graph_sizes import graph_sizes, mixed_graph_sizes
from backends.graph_table import GraphTable
from backends.replay_tokens import ReplayTokens
from backends.simulated.gpu_sheet import load_gpu_sheet
from backends.simulated.kv_capacity import num_kv_blocks
from backends.simulated.model_shard import ModelShard
from backends.simulated.model_sheet import load_model_sheet
from backends.simulated.roofline import RooflineModel
from backends.simulated.stretch_columns import columns_of
from engine.batch import Batch
from engine.errors import SettingError
from engine.limits import Limits
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
        limits: for which blocks and graphs were sized; None if whoever puts an engine before it sees to that.

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
        limits: Limits | None = None,
    ) -> None:
        for name, value in (("num_blocks", num_blocks), ("vocab_size", vocab_size)):
            if value < 1:
                raise SettingError(f"{name} is {value}; it must be at least 1.")
        self._cost_model = cost_model
        self._num_blocks = num_blocks
        self._graphs = GraphTable(graph_sizes, mixed_graph_sizes)
        self._tokens = ReplayTokens(vocab_size)
        self._limits = limits

    @classmethod
    def of(cls, model: str, gpu: str, *, tp: int = 1, memory_utilization: float = 0.9, **limits: int) -> Self:
        """Model a model on a GPU by their sheets, uncalibrated, with the KV blocks that fit into its memory.

        Args:
            model: name such as "Qwen3-8B", or a sheet file.
            gpu: name such as "H200", or a sheet file.
            tp: GPUs that share the work.
            memory_utilization: share of their memory to use.
            **limits: the fields of `engine.Limits`. They decide about graphs and blocks; `LLM` takes them over.

        Raises:
            SheetError: a model or GPU is not known.
            SettingError: a limit is unknown or out of range, or the model does not fit.
        """
        sizes = Limits.of(limits)
        model_sheet, gpu_sheet = load_model_sheet(model), load_gpu_sheet(gpu)
        return cls(
            RooflineModel(model_sheet, gpu_sheet, tp),
            num_blocks=num_kv_blocks(
                model_sheet,
                gpu_sheet,
                tp=tp,
                block_size=sizes.block_size,
                memory_utilization=memory_utilization,
                max_num_batched_tokens=sizes.max_num_batched_tokens,
                max_num_seqs=sizes.max_num_seqs,
            ),
            graph_sizes=graph_sizes(min(sizes.max_num_seqs, sizes.max_num_batched_tokens)),
            mixed_graph_sizes=mixed_graph_sizes(
                sizes.max_num_batched_tokens, ModelShard(model_sheet, tp).layer_weights
            ),
            vocab_size=model_sheet.vocab_size,
            limits=sizes,
        )

    @property
    def num_blocks(self) -> int:
        """KV blocks that are modelled."""
        return self._num_blocks

    @property
    def limits(self) -> Limits | None:
        """For which blocks and graphs were sized; an engine may have no larger ones."""
        return self._limits

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
