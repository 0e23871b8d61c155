from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from backends.cost_model import CostModel, StepColumns, StepTimes, Value
from backends.errors import SheetError
from backends.replay_tokens import ReplayTokens
from backends.simulated.gpu_sheet import load_gpu_sheet
from backends.simulated.model_sheet import load_model_sheet
from backends.simulated.roofline import RooflineModel
from backends.simulated.simulated_backend import SimulatedBackend
from engine import LLM
from engine.backend import Backend
from engine.backend_limits import limits_for
from engine.batch import Batch
from engine.errors import SettingError
from sim.parts import make_parts
from sim.replay_settings import ReplaySettings
from tests.backends.batches import batch_of
from tests.backends.step_shapes import Row

ROOFLINE = RooflineModel(load_model_sheet("qwen3-0.6b"), load_gpu_sheet("h200"))


class LinearModel:
    """A millisecond for each row of the graph, or a second if eager; keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[object] = []

    def step_times(self, steps: StepColumns[Value]) -> StepTimes[Value]:
        self.asked.append(steps)
        device_s = steps.graph_size * 0.001
        return StepTimes(device_s + 1.0, device_s)


def backend(cost_model: CostModel | None = None, graph_sizes: Sequence[int] = (1, 2, 4)) -> SimulatedBackend:
    return SimulatedBackend(cost_model or LinearModel(), num_blocks=10, graph_sizes=graph_sizes, vocab_size=1000)


def decode_batch(num_rows: int) -> Batch:
    rows = {f"r{i}": Row(1, 10 + i) for i in range(num_rows)}
    return batch_of(rows, admitted=list(rows))


def test_it_satisfies_the_engine() -> None:
    simulated: Backend = backend()
    assert simulated.num_blocks == 10
    simulated.close()
    simulated.close()


def test_times_and_tokens_of_a_step() -> None:
    batch = decode_batch(3)
    result = backend().execute(batch)
    assert (result.duration_s, result.device_s, result.graph_size) == (1.004, 0.004, 4)
    assert result.token_ids == ReplayTokens(1000).sample(batch)
    assert result.failed == {}


def test_the_cost_model_sees_the_shape_and_the_graph() -> None:
    model = LinearModel()
    batch = decode_batch(2)
    backend(model).execute(batch)
    assert model.asked == [StepColumns.one_row(batch.shape, 2)]


@pytest.mark.parametrize(("num_rows", "graph_size"), [(1, 1), (2, 2), (3, 4), (4, 4), (5, None), (300, None)])
def test_a_decode_step_runs_in_the_smallest_graph_that_holds_it(num_rows: int, graph_size: int | None) -> None:
    assert backend().execute(decode_batch(num_rows)).graph_size == graph_size


def test_steps_with_prefill_rows_run_in_graphs_of_their_own_or_eager() -> None:
    mixed = batch_of({"a": Row(2, 0), "b": Row(1, 5)}, admitted=["a", "b"])
    assert backend().execute(mixed).graph_size is None
    captured = SimulatedBackend(
        LinearModel(), num_blocks=10, vocab_size=1000, graph_sizes=(1, 2), mixed_graph_sizes=(2, 8)
    )
    assert captured.execute(mixed).graph_size == 8


def test_without_graphs_every_step_runs_eager() -> None:
    assert backend(graph_sizes=()).execute(decode_batch(1)).graph_size is None


def test_times_are_plain_floats_and_those_of_the_columns() -> None:
    batch = decode_batch(3)
    result = backend(ROOFLINE).execute(batch)
    times = ROOFLINE.step_times(StepColumns.from_rows([batch.shape], [4]))
    assert type(result.duration_s) is type(result.device_s) is float
    assert np.array([result.duration_s, result.device_s]).tobytes() == np.concatenate(times).tobytes()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"num_blocks": 0}, "num_blocks is 0; it must be at least 1"),
        ({"vocab_size": 0}, "vocab_size is 0; it must be at least 1"),
        ({"graph_sizes": [0]}, "A CUDA graph size is 0"),
    ],
)
def test_settings_that_cannot_work(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingError, match=message):
        SimulatedBackend(LinearModel(), **{"num_blocks": 1, "graph_sizes": [], "vocab_size": 1, **changes})


def test_of_names_makes_the_backend_that_a_replay_has() -> None:
    own = SimulatedBackend.of("Qwen3-8B", "H100", tp=2, max_num_seqs=64, max_num_batched_tokens=2048)
    parts = make_parts(ReplaySettings(gpu="H100", tp=2, max_num_seqs=64, max_num_batched_tokens=2048))
    assert own.num_blocks == parts.engine.backend.num_blocks
    for num_rows in (1, 60, 65):
        batch = decode_batch(num_rows)
        assert own.execute(batch) == parts.engine.backend.execute(batch)


def test_of_unknown_names_and_limits() -> None:
    with pytest.raises(SheetError, match="Unknown model 'gpt'"):
        SimulatedBackend.of("gpt", "H200")
    with pytest.raises(SettingError, match="max_num_seqs is 0"):
        SimulatedBackend.of("Qwen3-8B", "H200", max_num_seqs=0)
    with pytest.raises(SettingError, match="Unknown setting seqs; known: block_size"):
        SimulatedBackend.of("Qwen3-8B", "H200", seqs=3)


def test_an_engine_has_the_limits_that_the_backend_was_sized_for() -> None:
    sized = SimulatedBackend.of("Qwen3-8B", "H200", max_num_seqs=64)
    assert limits_for(sized, {}).max_num_seqs == 64
    with pytest.raises(SettingError, match=r"^max_num_seqs is 128, but the backend was made for at most 64; "):
        LLM(sized, max_num_seqs=128)
    assert limits_for(backend(), {"max_num_seqs": 300}).max_num_seqs == 300, "it was made for none"
