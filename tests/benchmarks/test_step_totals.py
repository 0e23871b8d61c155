import pytest

from backends.simulated import RooflineModel, SimulatedBackend, load_gpu_sheet, load_model_sheet
from benchmarks.step_totals import StepTotals
from engine import LLM, Batch, SamplingParams, StepResult


def test_steps_of_a_run_add_up() -> None:
    cost_model = RooflineModel(load_model_sheet("Qwen3-0.6B"), load_gpu_sheet("H200"), 1)
    backend = SimulatedBackend(cost_model, num_blocks=8, graph_sizes=(1, 2, 4), vocab_size=500)
    engine, totals = LLM(backend, block_size=16), StepTotals()
    results: list[StepResult] = []
    prompt, params = list(range(33)), SamplingParams(max_tokens=3)

    def take(batch: Batch, result: StepResult) -> None:
        totals.add(batch, result)
        results.append(result)

    for _ in range(2):
        engine.generate([prompt], params, take)
    assert (totals.num_steps, totals.num_prefill_steps, totals.num_graph_steps) == (6, 1, 5)
    assert (totals.num_hit_tokens, totals.num_preempted, totals.num_failed) == (32, 0, 0)
    assert totals.execute_s == sum(result.duration_s for result in results)
    assert totals.prefill_device_s == results[0].device_s
    shares = totals.shares(2 * totals.execute_s)
    assert shares["engine_share"] == 0.5
    assert shares["host_share"] == pytest.approx(1 - totals.device_s / (2 * totals.execute_s))
    assert shares["graph_step_share"] == 5 / 6
