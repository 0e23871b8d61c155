import pytest

from backends.simulated import RooflineModel, SimulatedBackend, load_gpu_sheet, load_model_sheet
from benchmarks.decode_bytes import decode_step_bytes
from benchmarks.qwen3_engine import TINY
from benchmarks.step_times import measure, summarise
from engine import LLM, BackendError, Batch, StepResult, VllmPolicy

SHEET = load_model_sheet(TINY)


def engine(num_blocks: int) -> LLM:
    cost_model = RooflineModel(SHEET, load_gpu_sheet("H200"), 1)
    backend = SimulatedBackend(cost_model, num_blocks=num_blocks, graph_sizes=(4,), vocab_size=500)
    return LLM(backend, policy=VllmPolicy(prefix_caching=False), max_num_batched_tokens=128)


def test_only_steps_in_which_all_decode_are_timed_around_the_context() -> None:
    llm = engine(1000)
    row = measure(llm, SHEET, num_seqs=4, context=100, num_steps=20)
    assert (row.num_seqs, row.graph_size) == (4, 4)
    assert abs(row.context - 100) < 10
    assert row.device_ms <= row.execute_ms
    assert row.megabytes == decode_step_bytes(SHEET, [round(row.context)] * 4) / 1e6
    assert row.bound_ms == pytest.approx(row.megabytes / 4.3e6 * 1e3)
    assert not llm.has_unfinished


def test_a_pool_that_is_too_small_is_an_error_and_no_endless_loop() -> None:
    with pytest.raises(BackendError, match="ended while it was measured"):
        measure(engine(6), SHEET, num_seqs=1, context=100, num_steps=20)


def test_host_and_device_are_medians_of_their_own() -> None:
    llm = engine(100)
    seen: list[Batch] = []
    llm.add_request([1])
    for _ in range(3):
        llm.step(lambda batch, _: seen.append(batch))
    times = [(0.010, 0.004), (0.020, 0.015), (0.030, 0.020)]
    steps = [(batch, StepResult((0,), 0.9, device_s)) for batch, (_, device_s) in zip(seen, times, strict=True)]
    row = summarise(SHEET, [wall_s for wall_s, _ in times], steps)
    assert (row.step_ms, row.device_ms, row.execute_ms) == pytest.approx((20, 15, 900))
    assert row.host_ms == pytest.approx(6)
    assert row.graph_size is None
